use std::{fmt::Write, time::Duration};

use serde_json::json;

use super::{
    Context, Error, Exit, duration,
    output::{Format, Output},
    person::Yes,
    progress::Progress,
    table::{Table, cell},
    terminal,
    time::local,
};
use machine::{
    actor::Human,
    operate::{self, Operator},
    store,
    text::OneLine,
    view::Phrase,
};

/// `prune`: deletes machines that have ended.
#[derive(Debug, clap::Args)]
pub struct Prune {
    /// Machines that ended at least this long ago, such as `90d` or `12h`.
    #[arg(long, value_name = "TIME", value_parser = duration, required_unless_present = "log")]
    ended_for: Option<Duration>,
    /// The name of the person who decides.
    #[arg(
        long = "as",
        value_name = "NAME",
        value_parser = Human::new,
        required_unless_present = "log",
    )]
    by: Option<Human>,
    /// Only machines of this kind, such as `execution`.
    #[arg(long, value_name = "KIND")]
    machine: Option<String>,
    /// Only machines in this state, such as `completed`.
    #[arg(long, value_name = "STATE")]
    status: Option<String>,
    /// Also executions that ended as not done although a receipt says that they were done.
    #[arg(long)]
    contradicted: bool,
    /// Show the log of prunings, and delete nothing.
    #[arg(long, conflicts_with_all = ["ended_for", "by", "machine", "status", "contradicted"])]
    log: bool,
    #[command(flatten)]
    yes: Yes,
    #[command(flatten)]
    format: Format,
}

impl Prune {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let (Some(ended_for), Some(by)) = (self.ended_for, &self.by) else {
            return self.log(context).await;
        };
        let store = context.write().await?;
        let observer = context.observer(&store);
        let mut prune = store::Prune::ended_for(ended_for);
        let mut detail = format!("that ended {} s ago or before", ended_for.as_secs());
        if let Some(machine) = &self.machine {
            operate::has_kind(&observer, machine).await?;
            prune = prune.machine(machine);
            let _ = write!(detail, ", of kind `{machine}`");
        }
        if let Some(status) = &self.status {
            let machine = self.machine.as_deref();
            prune = prune.statuses(operate::ended_in(&observer, machine, status).await?);
            let _ = write!(detail, ", in state `{status}`");
        }
        if self.contradicted {
            prune = prune.contradicted();
        }
        if !self.yes.yes {
            terminal::agrees(&format!("Permanently delete the machines {detail}?"))?;
        }
        let progress = Progress::open("machines checked");
        let operator = Operator::new(&store, &context.actors, by, "cli");
        let pruned = operator.prune(&prune, &detail, |at| progress.count(at.looked_at)).await?;
        drop(progress);
        let (machines, entries) = (pruned.machines, pruned.entries);
        let mut text = format!("{machines} machines with {entries} entries were deleted\n");
        for problem in &pruned.problems {
            let reason = OneLine(&problem.reason);
            let _ = writeln!(text, "kept, because it failed verification: {reason}");
        }
        let problems = pruned.problems.iter();
        let problems: Vec<_> =
            problems.map(|it| json!({ "id": it.id, "reason": it.reason })).collect();
        let document = json!({ "machines": machines, "entries": entries, "problems": problems });
        let answer = Output::of_act(document, text);
        answer.problems(!pruned.problems.is_empty()).print(self.format)
    }

    async fn log(&self, context: &Context) -> Result<Exit, Error> {
        let store = context.read().await?;
        let terminal = context.terminal();
        let columns =
            [Phrase::ColumnAt, Phrase::ColumnBy, Phrase::ColumnMachines, Phrase::ColumnEntries];
        let mut table = Table::new(terminal, &columns);
        let (mut prunings, mut unreadable) = (Vec::new(), String::new());
        for pruning in store.prunings().await? {
            match pruning {
                Ok(it) => {
                    table.row([
                        cell(local(it.at)),
                        cell(&it.by),
                        cell(it.machines.to_string()),
                        cell(it.entries.to_string()),
                    ]);
                    prunings.push(json!({
                        "at": it.at, "by": it.by, "machines": it.machines, "entries": it.entries,
                    }));
                }
                Err(error) => {
                    let text = error.to_string();
                    let said = [("error", &OneLine(&text) as &dyn std::fmt::Display)];
                    let _ =
                        writeln!(unreadable, "{}", terminal.say(Phrase::FieldUnreadable, &said));
                    prunings.push(json!({ "unreadable": error.to_string() }));
                }
            }
        }
        let text = if table.is_empty() {
            format!("{}\n", terminal.text(Phrase::NothingPruned))
        } else {
            table.text()
        };
        let document = json!({ "prunings": prunings });
        Output::new(document, text + &unreadable).print(self.format)
    }
}
