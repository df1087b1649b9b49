use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    commands::run::Run,
    workspace::{
        place::Place,
        tools::{Read, Request},
    },
};

/// The most questions or lookups of an answer of a planner, or the most steps, calls and edits of
/// its plan or repair, counted together.
pub const MOST_ITEMS: usize = 200;

/// The most bytes of an answer as JSON, with all its texts: each move of a job stores its plan.
pub const MOST_BYTES: usize = 256 << 10;

const INCOMPLETE: &str = "it has no step, or no command for a verification that is required";

/// What an agent wants to do, and how that is verified.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// The program gives each plan a new one.
    #[serde(rename = "plan_id")]
    pub id: String,
    pub goal: String,
    pub constraints: Vec<String>,
    pub steps: Vec<Step>,
    pub verification: VerificationPolicy,
    pub risk_level: Risk,
    /// In milliseconds since the Unix epoch.
    pub created_at: i64,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Step {
    #[serde(rename = "step_id")]
    pub id: String,
    pub title: String,
    /// Why it is done.
    pub intent: String,
    /// One after the other.
    pub tool_calls: Vec<Call>,
    /// The files that it, or a repair of it, may edit.
    pub expected_artifacts: Vec<Place>,
    pub status: Status,
    pub rollback_hint: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    #[default]
    Pending,
    InProgress,
    Done,
    Blocked,
    Skipped,
}

/// The order is that of the risk.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    #[default]
    Low,
    Medium,
    High,
}

/// How the result is verified.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VerificationPolicy {
    pub mode: Mode,
    /// One after the other. No shell reads them.
    pub commands: Vec<Run>,
    /// A failure has to be repaired.
    pub required: bool,
    /// No other command runs after one that failed.
    pub stop_on_fail: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    #[default]
    None,
    Lint,
    Test,
    Build,
    Custom,
}

/// A call of a tool, as a plan has it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "tool", rename_all = "snake_case")]
pub enum Call {
    Read(Read),
    /// Edits that are made together.
    Edit {
        edits: Vec<Request>,
    },
    Run(Run),
}

impl Plan {
    /// All calls, with those that verify.
    pub fn calls(&self) -> impl Iterator<Item = Call> {
        let steps = self.steps.iter().flat_map(|step| step.tool_calls.iter().cloned());
        steps.chain(self.verification.commands.iter().cloned().map(Call::Run))
    }

    pub fn runs(&self) -> impl Iterator<Item = Run> {
        self.calls().filter_map(|call| if let Call::Run(run) = call { Some(run) } else { None })
    }

    pub fn edits(&self) -> Vec<Vec<Request>> {
        let edits = |call| if let Call::Edit { edits } = call { Some(edits) } else { None };
        self.calls().filter_map(edits).collect()
    }

    pub fn risk(&self) -> Risk {
        let risk = |call| match call {
            Call::Read(_) => Risk::Low,
            Call::Edit { .. } => Risk::Medium,
            Call::Run(_) => Risk::High,
        };
        self.calls().map(risk).max().unwrap_or_default()
    }

    /// Returns `true` if a person has to confirm it.
    pub fn is_dangerous(&self) -> bool {
        self.risk() > Risk::Low
    }

    /// What is wrong with it that a schema cannot say.
    pub fn fault(&self) -> Option<String> {
        let policy = &self.verification;
        if self.steps.is_empty() || policy.required && policy.commands.is_empty() {
            return Some(INCOMPLETE.to_owned());
        }
        excess(self, count(&self.steps) + policy.commands.len())
    }
}

/// The number of steps, with their calls and edits.
pub fn count(steps: &[Step]) -> usize {
    let items = |call: &Call| if let Call::Edit { edits } = call { 1 + edits.len() } else { 1 };
    steps.iter().map(|step| 1 + step.tool_calls.iter().map(items).sum::<usize>()).sum()
}

/// The limit that an answer with so many items exceeds.
pub fn excess(answer: &impl Serialize, items: usize) -> Option<String> {
    let bytes = serde_json::to_vec(answer).map_or(usize::MAX, |json| json.len());
    let limits = [(items, MOST_ITEMS, "items"), (bytes, MOST_BYTES, "bytes")];
    let (count, most, what) = limits.into_iter().find(|(count, most, _)| count > most)?;
    Some(format!("it has {count} {what}: give at most {most}"))
}
