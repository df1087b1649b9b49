use std::{fmt::Write, time::Duration};

use serde_json::json;

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

/// `prune`: deletes machines that have ended.
#[derive(Debug, clap::Args)]
pub(super) struct Prune {
    /// Machines that ended at least this long ago, such as `90d` or `12h`.
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
    /// Also executions that ended as not done although a receipt says that they were done.
    #[arg(long)]
    contradicted: bool,
    #[command(flatten)]
    yes: Yes,
    #[command(flatten)]
    format: Format,
}

impl Prune {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let store = context.write().await?;
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
        if !self.yes.yes {
            terminal::agrees(&format!("Permanently delete the machines {detail}?"))?;
        }
        let operator = self.person.operates(context, &store);
        let pruned = operator.prune(&prune, &detail).await?;
        let mut text = format!("deleted {pruned}\n");
        for problem in &pruned.problems {
            let reason = OneLine(&problem.reason);
            let _ = writeln!(text, "kept, because it failed verification: {reason}");
        }
        let answer = Output::of_act(json!(pruned), text);
        answer.problems(!pruned.problems.is_empty()).print(self.format)
    }
}
