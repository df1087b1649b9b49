//! A bank whose payments are lines of a file, and whose client may die.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use machine::contract::Attempt;

use super::table::{AnyTour, Event, Pay};
use crate::worker::prelude::*;

/// When a process dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Moment {
    BeforePaying,
    AfterPaying,
    /// So long after its start.
    After {
        ms: u64,
    },
}

/// A payment.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Line {
    pub(super) execution: Id,
    pub(super) stage: u32,
}

pub(super) struct Bank {
    pub(super) store: Store,
    /// The file of the store.
    pub(super) file: PathBuf,
    pub(super) tour: Id,
    /// What Ann says to the tour while the bank pays.
    pub(super) says: Vec<Event>,
    pub(super) dies: Option<Moment>,
}

/// All payments.
pub(super) fn lines(file: &Path) -> Vec<Line> {
    let text = fs::read_to_string(file.with_extension("paid")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

impl Bank {
    pub(super) fn worker(self) -> Worker {
        worker(&self.store).machine::<AnyTour>().tool::<Pay>(self)
    }

    fn dies(&self, moment: Moment) {
        if self.dies == Some(moment) {
            std::process::abort();
        }
    }
}

impl Perform<Pay> for Bank {
    async fn perform(&self, call: &Call<Pay>) -> Answer {
        for event in &self.says {
            let said = Message::new(event, ann()).unwrap();
            // The store may be busy.
            drop(self.store.send(self.tour, &said).await);
        }
        // The tour may take it before the bank has paid.
        tokio::time::sleep(Duration::from_millis(5)).await;
        self.dies(Moment::BeforePaying);
        let line = Line { execution: call.execution_id, stage: call.arguments.stage };
        let line = format!("{}\n", serde_json::to_string(&line).unwrap());
        let paid = self.file.with_extension("paid");
        let mut paid = fs::OpenOptions::new().create(true).append(true).open(paid)?;
        paid.write_all(line.as_bytes())?;
        self.dies(Moment::AfterPaying);
        Ok(Applied::new("paid"))
    }

    async fn find(&self, attempt: &Attempt<Pay>) -> Answer {
        let stage = attempt.arguments.stage;
        if lines(&self.file).iter().any(|line| line.stage == stage) {
            Ok(Applied::new("found"))
        } else {
            Err(NoReceipt::not_applied("not found"))
        }
    }
}
