use serde::Serialize;

use super::execution::Status;

/// The position of a graph with respect to an execution. It implies the state of the execution;
/// another state is a mismatch to report.
///
/// ```
/// use machine::contract::{GraphPosition, execution::Status};
///
/// assert!(GraphPosition::ToolWorking.check(Status::Running).is_ok());
/// let mismatch = GraphPosition::ToolReturned.check(Status::Running).unwrap_err();
/// assert_eq!(
///     mismatch.to_string(),
///     "the graph is back from the tool, and the execution is RUNNING instead of COMPLETED or FAILED"
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GraphPosition {
    /// The contract was created.
    Created,
    /// The tool node works.
    ToolWorking,
    /// The tool node returned.
    ToolReturned,
    /// The node that asks a person was reached.
    #[serde(rename = "ecs_node")]
    AtEcsNode,
    /// The answer arrived, and the graph is about to resume.
    ResumeBegins,
    /// The graph has resumed.
    ResumeEnds,
}

/// The graph and the execution disagree.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the graph {}, and the execution is {} instead of {}",
    position.text(),
    label(*found),
    position.labels()
)]
#[non_exhaustive]
pub struct Mismatch {
    /// Where the graph is.
    pub position: GraphPosition,
    /// The state of the execution.
    pub found: Status,
}

impl GraphPosition {
    /// Its name in `tracing`, what the graph does then, and the states in which an execution can be
    /// there.
    fn row(self) -> (&'static str, &'static str, &'static [Status]) {
        match self {
            Self::Created => ("created", "has just created it", &[Status::Pending]),
            Self::ToolWorking => ("tool_working", "is in the tool", &[Status::Running]),
            Self::ToolReturned => {
                ("tool_returned", "is back from the tool", &[Status::Completed, Status::Failed])
            }
            Self::AtEcsNode => ("ecs_node", "waits for a person", &[Status::Waiting]),
            Self::ResumeBegins => ("resume_begins", "is about to resume", &[Status::Waiting]),
            Self::ResumeEnds => ("resume_ends", "has resumed", &[Status::Completed]),
        }
    }

    /// Checks that an execution in this state can be there.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] if it cannot.
    pub fn check(self, found: Status) -> Result<(), Mismatch> {
        if self.row().2.contains(&found) {
            return Ok(());
        }
        Err(Mismatch { position: self, found })
    }

    pub(crate) fn name(self) -> &'static str {
        self.row().0
    }

    fn text(self) -> &'static str {
        self.row().1
    }

    fn labels(self) -> String {
        let labels: Vec<_> = self.row().2.iter().copied().map(label).collect();
        labels.join(" or ")
    }
}

fn label(status: Status) -> &'static str {
    &status.definition().label
}
