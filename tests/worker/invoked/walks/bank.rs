//! A bank whose payments are lines of a file.

use std::path::{Path, PathBuf};

use machine::contract::Attempt;
use machine_tests::book;

use super::table::{AnyTour, Event, Pay};
use crate::worker::prelude::*;

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
}

/// All payments.
pub(super) fn lines(file: &Path) -> Vec<Line> {
    book::lines(&file.with_extension("paid"))
}

impl Bank {
    pub(super) fn worker(self) -> Worker {
        worker(&self.store).machine::<AnyTour>().tool::<Pay>(self)
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
        fail::fail_point!("bank-asked");
        let line = Line { execution: call.execution_id, stage: call.arguments.stage };
        book::add(&self.file.with_extension("paid"), &line)?;
        fail::fail_point!("bank-paid");
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
