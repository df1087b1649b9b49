//! A bank that writes down what it receives.

use std::path::{Path, PathBuf};

use machine::contract::{Attempt, EffectType};
use machine_tests::book;
use serde_json::Value;

use super::programs::{Meaning, Pay, Version};
use crate::worker::prelude::*;

/// Fail points before and after it has received a call.
pub(super) const POINTS: [&str; 2] = ["bank-asked", "bank-paid"];

/// A call that the bank has received.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Line {
    pub(super) execution: Id,
    pub(super) arguments: Value,
    pub(super) meaning: Meaning,
}

pub(super) struct Bank {
    /// The file of the store.
    pub(super) file: PathBuf,
}

/// All calls that the bank has received.
pub(super) fn lines(file: &Path) -> Vec<Line> {
    book::lines(&file.with_extension("paid"))
}

impl<V: Version, E: EffectType> Perform<Pay<V, E>> for Bank {
    async fn perform(&self, call: &Call<Pay<V, E>>) -> Answer {
        fail::fail_point!("bank-asked");
        let line = Line {
            execution: call.execution_id,
            arguments: serde_json::to_value(&call.arguments)?,
            meaning: call.arguments.0.meaning(),
        };
        book::add(&self.file.with_extension("paid"), &line)?;
        fail::fail_point!("bank-paid");
        Ok(Applied::new("paid"))
    }

    async fn find(&self, _: &Attempt<Pay<V, E>>) -> Answer {
        if lines(&self.file).is_empty() {
            Err(NoReceipt::not_applied("not found"))
        } else {
            Ok(Applied::new("found"))
        }
    }
}
