//! A bank that writes down what it receives, and whose client may die.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use machine::contract::{Attempt, EffectType};
use serde_json::Value;

use super::programs::{Meaning, Pay, Version};
use crate::worker::prelude::*;

/// When a process dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Moment {
    BeforePaying,
    AfterPaying,
}

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
    pub(super) dies: Option<Moment>,
}

/// All calls that the bank has received.
pub(super) fn lines(file: &Path) -> Vec<Line> {
    let text = fs::read_to_string(file.with_extension("paid")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

impl Bank {
    fn dies(&self, moment: Moment) {
        if self.dies == Some(moment) {
            std::process::abort();
        }
    }
}

impl<V: Version, E: EffectType> Perform<Pay<V, E>> for Bank {
    async fn perform(&self, call: &Call<Pay<V, E>>) -> Answer {
        self.dies(Moment::BeforePaying);
        let line = Line {
            execution: call.execution_id,
            arguments: serde_json::to_value(&call.arguments)?,
            meaning: call.arguments.0.meaning(),
        };
        let line = format!("{}\n", serde_json::to_string(&line)?);
        let paid = self.file.with_extension("paid");
        let mut paid = fs::OpenOptions::new().create(true).append(true).open(paid)?;
        paid.write_all(line.as_bytes())?;
        self.dies(Moment::AfterPaying);
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
