use std::collections::BTreeMap;

use machine::contract::{Refusal, Report, Tool};
use serde::Deserialize;
use serde_json::Value;

/// The outcome of a call.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum CallReport {
    /// It took effect. The receipt is any JSON, or of the type of the tool if the server knows it.
    Applied(Value),
    /// Provably nothing happened. The refusal is any JSON, or of the type of the tool if the server
    /// knows it.
    NotApplied(Value),
}

/// Reads the report of a tool whose type is known.
type Read = fn(CallReport) -> Result<Report<Value, Refusal>, serde_json::Error>;

/// The tools whose receipts and refusals are checked, by name.
#[derive(Default)]
pub(super) struct Receipts(BTreeMap<String, Read>);

impl Receipts {
    pub(super) fn add<T: Tool>(&mut self) {
        self.0.insert(format!("{}.{}", T::SERVICE, T::METHOD), read::<T>);
    }

    /// The report, whose receipt or refusal must be of the type of its tool, if that is known.
    pub(super) fn read(
        &self,
        tool: Option<&str>,
        report: CallReport,
    ) -> Result<Report<Value, Refusal>, serde_json::Error> {
        match (tool.and_then(|tool| self.0.get(tool)), report) {
            (Some(read), report) => read(report),
            (None, CallReport::Applied(receipt)) => Ok(Report::Applied(receipt)),
            (None, CallReport::NotApplied(refusal)) => Ok(Report::NotApplied(refusal.into())),
        }
    }
}

fn read<T: Tool>(report: CallReport) -> Result<Report<Value, Refusal>, serde_json::Error> {
    Ok(match report {
        CallReport::Applied(receipt) => {
            T::Receipt::deserialize(&receipt)?;
            Report::Applied(receipt)
        }
        CallReport::NotApplied(refusal) => {
            Report::NotApplied(Refusal::of(&T::Refusal::deserialize(&refusal)?))
        }
    })
}
