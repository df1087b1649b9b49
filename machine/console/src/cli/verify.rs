use std::fmt::Write;

use super::{
    Context, Error, Exit, ids,
    output::{Format, Output, document},
    progress::Progress,
};
use machine::text::OneLine;

/// `verify`: whether histories are as they were written, and legal.
#[derive(Debug, clap::Args)]
pub(super) struct Verify {
    /// The id of a machine, or its last digits, at least 8; without one, everything in the file.
    id: Option<String>,
    #[command(flatten)]
    format: Format,
}

impl Verify {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let store = context.read().await?;
        let progress = Progress::of("entries");
        let report = match &self.id {
            Some(id) => {
                let id = ids::find(&store, id).await?;
                context.observer(&store).verify(id).await?
            }
            None => store.verify_all(|at| progress.set(at.entries, at.total_entries)).await?,
        };
        drop(progress);
        let mut text = format!("{} machines, {} entries", report.machines, report.entries);
        if report.pruned > 0 {
            let _ = write!(text, ", {} entries were pruned", report.pruned);
        }
        text.push_str(match report.problems.len() {
            0 => ": all as written\n",
            _ => "\n",
        });
        for problem in &report.problems {
            let reason = OneLine(&problem.reason);
            let id = problem.id.map(|id| id.to_string()).unwrap_or_default();
            // Most reasons name the machine themselves.
            let _ = if id.is_empty() || problem.reason.starts_with(&id) {
                writeln!(text, "problem: {reason}")
            } else {
                writeln!(text, "problem: {id}: {reason}")
            };
        }
        Output::new(document(&report)?, text).problems(!report.is_clean()).print(self.format)
    }
}
