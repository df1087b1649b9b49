use machine::{actor::GraphRunner, definition::Mark, machine, stored::Context};
use serde::{Deserialize, Serialize};

/// The record of a task: open from its submission on, closed permanently when its engine has
/// finished it.
#[machine(durable, context = Submission,
    fields(#[audience(human)] history: Vec<String>, in = Completed | Failed | Terminated)
)]
#[derive(Debug, Serialize, Deserialize)]
pub enum TaskRecord {
    #[initial]
    #[stable]
    #[on(close(outcome: Outcome, history) => match outcome {
        Outcome::Completed(result) => Completed(result),
        Outcome::Failed(error) => Failed(error),
        Outcome::Terminated(reason) => Terminated(reason),
    }, by = GraphRunner)]
    Open,

    #[terminal]
    Completed {
        #[audience(human)]
        result: String,
    },

    #[terminal]
    Failed {
        #[audience(human)]
        error: String,
    },

    #[terminal]
    Terminated {
        #[audience(human)]
        reason: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submission {
    pub goal: String,
}

impl Context for Submission {
    type Summary = ();
    const MARKS: &'static [Mark] = &[Mark::human("goal")];
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Completed(String),
    Failed(String),
    Terminated(String),
}
