//! What the calls do that a machine made by entering its state.

use serde::Serialize;

use crate::{clock::Millis, contract::CallStage, definition::Invocation, id::Id};

/// The calls of the state of a machine, in brief.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, crate::ToSchema)]
#[non_exhaustive]
pub struct StateCalls {
    /// The state's name in messages, with what the calls do: `PAYING (asked)`, or for a set
    /// `PAYING (1 asked, 2 running)`.
    pub label: String,
    /// The name of the invocation, such as `payment`.
    pub name: String,
    /// The tool, such as `bank.charge`; `None` if it is known at run time only.
    pub tool: Option<String>,
    /// It makes several calls.
    pub is_set: bool,
    /// The number of calls in each stage that has any, the most urgent stage first.
    pub stages: Vec<StageCount>,
}

/// The number of calls in one stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, crate::ToSchema)]
#[non_exhaustive]
pub struct StageCount {
    /// The stage.
    pub stage: CallStage,
    /// The number of calls.
    pub count: usize,
}

/// A call that a machine made by entering a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, crate::ToSchema)]
#[non_exhaustive]
pub struct CallView {
    /// The name of the invocation, such as `payment`.
    pub name: String,
    /// Its position among the calls of the invocation.
    pub position: u32,
    /// The execution; `None` if its outcome was known when the state was entered, so that nothing
    /// was called.
    pub execution: Option<Id>,
    /// How far it is.
    pub stage: CallStage,
    /// Its subject, such as `bank.charge`.
    pub summary: String,
    /// Since when it is in the state of its execution (milliseconds since the Unix epoch).
    pub since: Option<Millis>,
    /// It is of the current state. Any other was left by a move that detaches it: it has not ended,
    /// or it took effect and the machine has not taken its receipt.
    pub is_current: bool,
    /// A move that does not detach it waits until the machine has taken its outcome.
    pub is_waited_for: bool,
    /// The gate that asks a person.
    pub gate: Option<Id>,
    /// Until when that can be answered (milliseconds since the Unix epoch, by the clock of the
    /// store).
    pub answer_by: Option<Millis>,
    /// Another execution that has its key: it waits until that one has ended.
    pub behind: Option<Id>,
    /// Until when the machine waits for its outcome (milliseconds since the Unix epoch, by the
    /// clock of the store).
    pub wait_until: Option<Millis>,
    /// The machine has waited long enough. The call goes on, and its outcome is kept.
    pub is_overdue: bool,
    /// Why nothing was called, such as `already_done`.
    pub error: Option<String>,
}

impl StateCalls {
    pub(crate) fn of(
        label: &str,
        invocation: &Invocation,
        stages: impl IntoIterator<Item = CallStage>,
    ) -> Self {
        let mut counts = CallStage::ALL.map(|stage| StageCount { stage, count: 0 });
        for stage in stages {
            counts[stage as usize].count += 1;
        }
        let stages: Vec<_> = counts.into_iter().filter(|it| it.count > 0).collect();
        let words = stages.iter().map(|StageCount { stage, count }| {
            if invocation.set { format!("{count} {stage}") } else { stage.to_string() }
        });
        let words: Vec<_> = words.collect();
        let label = match &*words {
            [] => label.to_owned(),
            words => format!("{label} ({})", words.join(", ")),
        };
        Self {
            label,
            name: invocation.name.to_string(),
            tool: invocation.tool_name(),
            is_set: invocation.set,
            stages,
        }
    }

    pub(crate) fn has(&self, stage: CallStage) -> bool {
        self.stages.iter().any(|it| it.stage == stage)
    }
}

impl CallView {
    pub(crate) fn words(&self) -> String {
        format!("`{}` ({})", self.name, self.stage)
    }
}
