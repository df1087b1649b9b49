//! An agent without a model: it knows these tasks, and what to do for each of them.

use machine::worker::Failure;

use crate::{
    agent::{Agent, Brief, Reply},
    plan::{Plan, ProposedCall, Step},
};

#[derive(Debug, Clone, Copy)]
pub struct Script;

/// The tasks that the agent knows.
pub const GOALS: [&str; 6] = [
    "greet bob",
    "pay the invoice",
    "invite the team",
    "publish the report",
    "clean up",
    "delete the target",
];

impl Agent for Script {
    async fn accept(&self, goal: &str) -> Result<Reply<()>, Failure> {
        if GOALS.contains(&goal) {
            return Ok(Reply::Can(()));
        }
        let known = GOALS.join(", ");
        Ok(Reply::Cannot(format!("I do not know how to `{goal}`; I can: {known}")))
    }

    async fn plan(&self, brief: &Brief) -> Result<Reply<Plan>, Failure> {
        let said = brief.instructions.last().map_or("", String::as_str);
        let (reasoning, steps) = match brief.goal.as_str() {
            "greet bob" => ("Bob likes mails.", vec![mail("bob", "hello")]),
            "pay the invoice" => (
                "The invoice says how much it is; Bob wants to know that it was paid.",
                vec![
                    read("invoice.txt"),
                    step("pay", "bank.pay", &[("to", "bob"), ("amount", "{{files.read}}")], None),
                    mail("bob", "it is paid"),
                ],
            ),
            "invite the team" if said.contains("only") => {
                ("They told me whom to write to.", vec![mail("team", "come")])
            }
            "invite the team" => {
                ("One mail to all is the fastest.", vec![mail("everyone", "come")])
            }
            "publish the report" if said.contains("final") => {
                ("They told me which one.", vec![publish("final")])
            }
            "publish the report" => (
                "There are two reports, and both could be meant.",
                vec![publish("draft"), publish("final")],
            ),
            "clean up" => ("These files look old.", vec![delete("../secrets.txt")]),
            "delete the target" => {
                ("A file says which one it is.", vec![read("target.txt"), delete("{{files.read}}")])
            }
            other => return Ok(Reply::Cannot(format!("I have no plan for `{other}`"))),
        };
        let steps = steps.into_iter().skip(brief.done.len()).collect();
        Ok(Reply::Can(Plan { reasoning: reasoning.to_owned(), steps }))
    }
}

fn step(title: &str, tool: &str, arguments: &[(&str, &str)], changes: Option<&str>) -> Step {
    let call = ProposedCall::new(tool, arguments);
    Step { title: title.to_owned(), call, changes: changes.map(str::to_owned) }
}

fn read(path: &str) -> Step {
    step("look it up", "files.read", &[("path", path)], None)
}

fn mail(to: &str, text: &str) -> Step {
    step("write a mail", "mail.send", &[("to", to), ("text", text)], None)
}

fn publish(text: &str) -> Step {
    let arguments = [("page", "report"), ("text", text)];
    step("publish", "site.publish", &arguments, Some("the page `report`"))
}

fn delete(path: &str) -> Step {
    step("delete", "files.delete", &[("path", path)], None)
}
