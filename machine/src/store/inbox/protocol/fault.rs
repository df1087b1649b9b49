use std::fmt;

use serde::Serialize;

use crate::clock::Millis;

/// Why a machine, or a message to it, is not progressing. It contains no data that the text of an
/// error may repeat, so every audience may see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, crate::ToSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cause {
    /// The program returned an error.
    Failed = 0,
    /// The program panicked.
    Panicked = 1,
    /// The handler exceeded its time limit.
    TimedOut = 2,
    /// The attempts ended without an answer, for example in a crash.
    NoAnswer = 3,
    /// The transition cannot be written.
    NotWritten = 4,
    /// The machine cannot be read.
    Unreadable = 5,
    /// The handler has only sent messages to its own machine.
    SelfSends = 6,
    /// The state of the machine does not take the message.
    NotTaken = 7,
    /// The message can never be taken.
    NotValid = 8,
    /// The machine has ended before it took the message.
    Ended = 9,
    /// The handler waits, and nothing can move the machine: no open call or child, no deadline, no
    /// message, and no person.
    Stuck = 10,
    /// No live worker has the tool of the call.
    NoTool = 11,
}

const ALL: [Cause; 12] = [
    Cause::Failed,
    Cause::Panicked,
    Cause::TimedOut,
    Cause::NoAnswer,
    Cause::NotWritten,
    Cause::Unreadable,
    Cause::SelfSends,
    Cause::NotTaken,
    Cause::NotValid,
    Cause::Ended,
    Cause::Stuck,
    Cause::NoTool,
];

impl Cause {
    /// One that is unknown was edited.
    pub(crate) fn from_number(number: Option<i64>) -> Self {
        let mut all = ALL.into_iter();
        all.find(|cause| Some(*cause as i64) == number).unwrap_or(Self::Failed)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Failed => "the program returned an error",
            Self::Panicked => "the program panicked",
            Self::TimedOut => "the handler took too long",
            Self::NoAnswer => "the attempts ended without an answer, for example in a crash",
            Self::NotWritten => "the transition cannot be written",
            Self::Unreadable => "the machine cannot be read",
            Self::SelfSends => "the handler only sends messages to its own machine",
            Self::NotTaken => "the machine does not take it yet",
            Self::NotValid => "it can never be accepted",
            Self::Ended => "the machine has ended",
            Self::Stuck => {
                "nothing can move the machine while its handler waits: return a transition, or make the state \
                 `#[stable]` (it has no open call or child, no deadline, no message, and no move for a person)"
            }
            Self::NoTool => "no live worker has the tool of the call",
        })
    }
}

/// An error: its cause, and its text, which may repeat data.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Fault {
    pub(crate) cause: Cause,
    pub(crate) error: String,
}

impl Fault {
    pub(crate) fn new(cause: Cause, error: impl Into<String>) -> Self {
        Self { cause, error: error.into() }
    }
}

/// The last failed attempt at the handler of a state, or at a deadline.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct LastFailure {
    pub(crate) fault: Fault,
    pub(crate) at: Millis,
    pub(crate) attempts: u32,
}
