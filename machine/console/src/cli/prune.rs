use std::{fmt::Write, time::Duration};

use serde_json::{Value, json};

use super::{
    Context, Error, Exit, duration,
    output::{Format, Output},
    person::{Person, Yes},
    terminal,
};
use machine::{
    operate::{Wanted, ended_in},
    store,
    text::OneLine,
};

/// `prune`: deletes machines that have ended, or what delivered turns of agents have left.
#[derive(Debug, clap::Args)]
pub(super) struct Prune {
    /// Machines that ended, or turns that were delivered, at least this long ago, such as `90d`.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    ended_for: Duration,
    #[command(flatten)]
    person: Person,
    /// Only machines of this kind, such as `execution`.
    #[arg(long, value_name = "KIND")]
    machine: Option<String>,
    /// Only machines in this state, such as `completed`.
    #[arg(long, value_name = "STATE")]
    status: Option<String>,
    /// Also delete executions that ended as not done although a receipt says that they were done.
    #[arg(long)]
    contradicted: bool,
    /// Prune the turns of agents instead of machines: the bodies of their cards.
    #[arg(long, conflicts_with_all = ["machine", "status", "contradicted"])]
    turns: bool,
    /// With `--turns`: the number of newest turns to keep for each agent.
    #[arg(long, value_name = "NUMBER", default_value_t = 0, requires = "turns")]
    keep: usize,
    #[command(flatten)]
    yes: Yes,
    #[command(flatten)]
    format: Format,
}

impl Prune {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let store = context.write().await?;
        if self.turns {
            return self.turns(context, &store).await;
        }
        let observer = context.observer(&store);
        let mut prune = store::Prune::ended_for(self.ended_for);
        let mut detail = format!("that ended at least {} s ago", self.ended_for.as_secs());
        if let Some(machine) = &self.machine {
            let wanted = Wanted { machine: Some(machine), ..Wanted::default() };
            wanted.select(&observer, store::Query::new()).await?;
            prune.machine = Some(machine.clone());
            let _ = write!(detail, ", of kind `{machine}`");
        }
        if let Some(status) = &self.status {
            let machine = self.machine.as_deref();
            prune.statuses = ended_in(&observer, machine, status).await?.into_iter().collect();
            let _ = write!(detail, ", in state `{status}`");
        }
        prune.contradicted = self.contradicted;
        self.agrees(&format!("the machines {detail}"))?;
        let operator = self.person.operates(context, &store);
        let pruned = operator.prune(&prune, &detail).await?;
        let text = format!("deleted {pruned}\n");
        self.report(json!(pruned), text, &pruned.problems, "it failed verification")
    }

    /// Prunes turns.
    async fn turns(&self, context: &Context, store: &store::Store) -> Result<Exit, Error> {
        let (age, keep) = (self.ended_for.as_secs(), self.keep);
        self.agrees(&format!("the cards of turns that were delivered at least {age} s ago"))?;
        let operator = self.person.operates(context, store);
        let pruned = operator.prune_turns(self.ended_for, keep).await?;
        let text = format!("pruned {pruned}\n");
        self.report(json!(pruned), text, &pruned.problems, "it cannot be read")
    }

    fn agrees(&self, what: &str) -> Result<(), Error> {
        if self.yes.yes {
            return Ok(());
        }
        terminal::agrees(&format!("Permanently delete {what}?"))
    }

    fn report(
        &self,
        document: Value,
        mut text: String,
        problems: &[store::Problem],
        why: &str,
    ) -> Result<Exit, Error> {
        for problem in problems {
            let _ = writeln!(text, "kept, because {why}: {}", OneLine(&problem.reason));
        }
        let answer = Output::of_act(document, text);
        answer.problems(!problems.is_empty()).print(self.format)
    }
}
