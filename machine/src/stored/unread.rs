use std::fmt;

use serde::de::Error as _;
use serde_json::Error;

use super::VerifyError;
use crate::id::Id;

/// A part of the stored data of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoredPart {
    /// The context, which all states share.
    Context,
    /// The fields of the state.
    State,
}

impl fmt::Display for StoredPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Context => "the context",
            Self::State => "the state",
        })
    }
}

/// Why generated code could not make a machine.
#[derive(Debug)]
pub struct Unread {
    part: StoredPart,
    source: Error,
}

impl Unread {
    pub(super) fn of_context(source: Error) -> Self {
        Self { part: StoredPart::Context, source }
    }

    /// No state has this index.
    #[must_use]
    pub fn unknown_state(index: usize) -> Self {
        Error::custom(index).into()
    }

    pub(crate) fn of(self, id: Id) -> VerifyError {
        VerifyError::Data { id, part: self.part, source: self.source }
    }
}

/// The context has its error where it is read; every other one is of the state.
impl From<Error> for Unread {
    fn from(source: Error) -> Self {
        Self { part: StoredPart::State, source }
    }
}
