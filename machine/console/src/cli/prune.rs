use std::fmt::Write;

use std::time::Duration;

use serde_json::{Value, json};

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
    store::{self, Pruned},
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
        required_unless_present_any = ["dry_run", "log"],
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
    /// Delete nothing, and report what would be deleted.
    #[arg(long)]
    dry_run: bool,
    /// Show the log of prunings, and delete nothing.
    #[arg(long, conflicts_with_all = ["ended_for", "by", "machine", "status", "contradicted", "dry_run"])]
    log: bool,
    #[command(flatten)]
    yes: Yes,
    #[command(flatten)]
    format: Format,
}

impl Prune {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let Some(ended_for) = self.ended_for else { return self.log(context).await };
        // A rehearsal leaves no name in the file.
        let (is_rehearsal, by) = match (&self.by, self.dry_run) {
            (Some(by), false) => (false, by.clone()),
            _ => (true, Human::new("dry-run").map_err(|error| Error::refused(error.to_string()))?),
        };
        let store = if is_rehearsal { context.read().await? } else { context.write().await? };
        let observer = context.observer(&store);
        let mut prune = store::Prune::ended_for(ended_for);
        if let Some(machine) = &self.machine {
            operate::has_kind(&observer, machine).await?;
            prune = prune.machine(machine);
        }
        if let Some(status) = &self.status {
            let machine = self.machine.as_deref();
            prune = prune.statuses(operate::ended_in(&observer, machine, status).await?);
        }
        if self.contradicted {
            prune = prune.contradicted();
        }
        let rehearse = async || {
            let progress = Progress::open("machines checked");
            let rehearsal = prune.clone().dry_run();
            store.prune(&rehearsal, &by, |at| progress.count(at.looked_at)).await
        };
        let pruned = if is_rehearsal {
            rehearse().await?
        } else {
            if !self.yes.yes {
                let would = rehearse().await?;
                let text = text(&would, "would be deleted");
                let asked = format!("{text}Delete them permanently?");
                terminal::agrees_after("--dry-run", &asked)?;
            }
            let progress = Progress::open("machines checked");
            let detail = format!("that ended {} s ago or before", ended_for.as_secs());
            let operator = Operator::new(&store, &context.actors, &by, "cli");
            operator.prune(&prune, &detail, |at| progress.count(at.looked_at)).await?
        };
        let text = text(&pruned, if is_rehearsal { "would be deleted" } else { "were deleted" });
        let document = document(&pruned, is_rehearsal);
        let answer =
            if is_rehearsal { Output::new(document, text) } else { Output::of_act(document, text) };
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

fn text(pruned: &Pruned, done: &str) -> String {
    let mut text = format!("{} machines with {} entries {done}\n", pruned.machines, pruned.entries);
    for (kept, count) in &pruned.kept {
        let _ = writeln!(text, "{count} kept: {kept}");
    }
    for problem in &pruned.problems {
        let reason = OneLine(&problem.reason);
        let _ = writeln!(text, "kept, because it failed verification: {reason}");
    }
    text
}

fn document(pruned: &Pruned, is_rehearsal: bool) -> Value {
    let kept = pruned.kept.iter();
    let kept = kept.map(|(kept, count)| json!({ "reason": kept.to_string(), "machines": count }));
    let problems = pruned.problems.iter();
    let problems = problems.map(|it| json!({ "id": it.id, "reason": it.reason }));
    json!({
        "dry_run": is_rehearsal,
        "machines": pruned.machines,
        "entries": pruned.entries,
        "kept": kept.collect::<Vec<_>>(),
        "problems": problems.collect::<Vec<_>>(),
    })
}
