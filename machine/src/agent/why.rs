use std::fmt;

use serde::{Deserialize, Serialize};

use super::{CardId, Resource};

/// The reason why a turn was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// A person stopped it.
    Requested,
    /// The turn that delegated to it was stopped.
    Parent,
    /// A count exceeded its limit, or the time reached it.
    Limit(Resource),
    /// The attempts of its handler are used up.
    Attempts,
    /// The terms of its task cannot be read.
    Unreadable,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Requested => f.pad("a stop was requested"),
            Self::Parent => f.pad("the turn that delegated to it was stopped"),
            Self::Limit(resource) => write!(f, "its limit of {resource} is used up"),
            Self::Attempts => f.pad("the attempts of its handler are used up"),
            Self::Unreadable => f.pad("its record cannot be read"),
        }
    }
}

/// The answer to the stop of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TurnStop {
    /// The turn is delivered with this reason.
    Stopped(StopReason),
    /// The turn was stopped earlier. It is delivered with the first reason.
    AlreadyStopped {
        /// That reason.
        why: StopReason,
        /// The person who stopped it, if the newest lines of the operator log say so.
        by: Option<String>,
    },
    /// The turn had ended before.
    Ended {
        /// Its end.
        end: TurnEnd,
        /// The card with its result.
        deliverable: CardId,
    },
}

impl fmt::Display for TurnStop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped(why) => write!(f, "stopped: {why}"),
            Self::AlreadyStopped { why, by: Some(name) } => {
                write!(f, "already stopped by {name}: {why}")
            }
            Self::AlreadyStopped { why, by: None } => write!(f, "already stopped: {why}"),
            Self::Ended { end, .. } => write!(f, "already ended: {end}"),
        }
    }
}

/// The end of a turn, as its event reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEnd {
    /// The deliverable is the result.
    Done,
    /// The deliverable describes the failure.
    Failed,
    /// The deliverable is the work so far.
    Stopped(StopReason),
}

impl fmt::Display for TurnEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done => f.pad("done"),
            Self::Failed => f.pad("failed"),
            Self::Stopped(why) => write!(f, "stopped: {why}"),
        }
    }
}

/// The continuation of a turn after the last result of a step (`after_execution`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterExecution {
    /// The next step begins.
    #[default]
    Suspend,
    /// The turn delivers, and the model is not asked again.
    Terminate,
}
