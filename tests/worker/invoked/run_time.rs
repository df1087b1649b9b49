//! Calls of tools that are known at run time only.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use machine::{
    Id,
    actor::GraphRunner,
    contract::{
        ActionRefusal, AnyExecution, Applied, CallError, InvalidContract, NoReceipt, OrRefused,
        Outcome, Registry, ToolCall, ToolSpec,
    },
    machine,
    testing::TestEnvironment,
    worker::{Handled, Handler, Next, Task},
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::orders::is_clean;

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Step {
    #[initial]
    #[on(execute(calls, goal) => Executing, by = GraphRunner)]
    Planned,
    #[invoke(
        calls: [ToolCall],
        occurrence = goal.clone(),
        session = format!("the session of {goal}"),
        unattended
    )]
    #[on(end(outcomes) => Ended, by = GraphRunner)]
    Executing { calls: Vec<ToolCall>, goal: String },
    #[terminal]
    Ended { outcomes: Vec<Outcome<ToolCall>> },
}

struct Takes;

impl Handler for Takes {
    type Machine = AnyStep;

    async fn handle(&self, step: AnyStep, task: &mut Task) -> Handled<AnyStep> {
        let AnyStep::Executing(step) = step else { return Ok(Next::Wait) };
        let outcomes = task.outcomes::<ToolCall>()?;
        let runner = &task.actors().graph_runner;
        Ok(outcomes.map_or(Next::Wait, |outcomes| Next::to(step.end(outcomes, runner))))
    }
}

fn tools() -> Registry {
    let mut tools = Registry::new();
    let read = ToolSpec::idempotent("files", "read").unwrap().template("", "{path}");
    let schema = json!({ "type": "object", "required": ["path"] });
    let read = read.schema(schema);
    tools
        .add(read, |_| {
            let found: Result<Applied, _> = Err(ActionRefusal::new("no such file").code("404"));
            Box::pin(async move { found.or_refused() })
        })
        .unwrap();
    let send =
        ToolSpec::irreversible("mail", "send").unwrap().settling_time(Duration::from_secs(7));
    tools.add(send, |_| Box::pin(async { Ok(Applied::new("250 queued")) })).unwrap();
    tools
}

/// A step that has made these calls.
async fn made(registry: Registry, calls: Vec<ToolCall>) -> (TestEnvironment, Id) {
    let registry = Arc::new(registry);
    let shop = TestEnvironment::new(move |worker| {
        worker.handler(Takes).other_tools(Arc::clone(&registry))
    });
    let runner = machine::actor::Actors::issue("engine").unwrap().graph_runner;
    let id = shop.create(AnyStep::from(Step::new().execute(calls, "greet".into(), &runner))).await;
    shop.run_until_idle().await;
    (shop, id)
}

/// The words, the limits and the effect of the tool, and the session of the table.
#[tokio::test(start_paused = true)]
async fn a_call_is_what_its_tool_says() {
    let registry = tools();
    let calls = vec![
        registry.call("files.read", r#"{"path": "notes.txt"}"#).unwrap(),
        registry.call("mail.send", r#"{"to": "bob"}"#).unwrap(),
    ];
    let (shop, id) = made(registry, calls).await;
    let AnyStep::Ended(ended) = shop.load(id).await else { panic!("{:?}", shop.failures()) };
    let refusal = CallError::Refused(ActionRefusal::new("no such file").code("404"));
    assert_eq!(ended.state().outcomes, [Err(refusal), Ok("250 queued".to_owned())]);

    let mut found = Vec::new();
    for child in shop.store().children(id).await.unwrap() {
        let call: AnyExecution = shop.store().load(child.id).await.unwrap();
        let contract = call.context();
        assert_eq!(contract.session_id(), Some("the session of greet"));
        let settling = contract.settling_time().as_secs();
        found.push((contract.summary().into_owned(), contract.is_irreversible(), settling));
    }
    found.sort();
    let expected = [("files.read → notes.txt", false, 60_u64), ("mail.send", true, 7)];
    assert_eq!(found, expected.map(|(text, is, time)| (text.to_owned(), is, time)));
    is_clean(&shop).await;
}

/// Neither arguments that do not fit, nor an occurrence that a model wrote.
#[test]
fn a_call_is_checked_when_it_is_made() {
    let registry = tools();
    let refused = |tool: &str| registry.call(tool, "{}").unwrap_err();
    assert!(matches!(refused("files.read"), InvalidContract::Arguments { .. }));
    assert!(matches!(refused("fax.send"), InvalidContract::UnknownTool(_)));

    let call = registry.call("mail.send", r#"{"to": "bob"}"#).unwrap();
    let mut forged = serde_json::to_value(&call).unwrap();
    let same: ToolCall = serde_json::from_value(forged.clone()).unwrap();
    assert_eq!(same, call);
    forged["action"]["action_detail"]["occurrence"] = json!("again");
    let forged: ToolCall = serde_json::from_value(forged).unwrap();
    let reasoner = machine::actor::Actors::issue("engine").unwrap().reasoning_node;
    assert!(matches!(forged.contract(&reasoner), Err(InvalidContract::NotACall(_))));
}

/// The service of a tool is asked, also of one that was added again.
#[tokio::test(start_paused = true)]
async fn a_finder_belongs_to_a_tool() {
    let mut registry = tools();
    let none = registry.finder("fax.send", |_| Box::pin(async { Ok(Applied::new("")) }));
    assert!(matches!(none, Err(InvalidContract::UnknownTool(_))));
    let asked = Arc::new(Mutex::new(Vec::new()));
    let asks = Arc::clone(&asked);
    let finder = registry.finder("mail.send", move |attempt| {
        asks.lock().unwrap().extend(attempt.arguments.tool_name());
        Box::pin(async { Ok(Applied::new("found")) })
    });
    finder.unwrap();
    let silent = ToolSpec::irreversible("mail", "send").unwrap();
    let silent = silent.settling_time(Duration::ZERO);
    let unknown =
        registry.add(silent, |_| Box::pin(async { Err(NoReceipt::unknown("the line went dead")) }));
    unknown.unwrap();
    let call = registry.call("mail.send", r#"{"to": "bob"}"#).unwrap();
    let (shop, id) = made(registry, vec![call]).await;
    shop.advance(Duration::from_hours(1)).await;
    let AnyStep::Ended(ended) = shop.load(id).await else { panic!("{:?}", shop.failures()) };
    assert_eq!(ended.state().outcomes, [Ok("found".to_owned())]);
    assert_eq!(*asked.lock().unwrap(), ["mail.send"]);
}
