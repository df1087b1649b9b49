use std::{
    error::Error,
    fmt::{self, Display},
};

use serde::{Deserialize, Serialize};

use Code::{E_CONFLICT, E_INVALID_ARGS, E_IO, E_POLICY_DENIED};

/// Why a tool did nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    pub code: Code,
    /// The path, in most cases.
    pub at: String,
    pub why: String,
}

#[allow(non_camel_case_types, clippy::enum_variant_names, reason = "people read these names")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Code {
    E_POLICY_DENIED,
    /// The files are not what the edit was made for.
    E_CONFLICT,
    E_INVALID_ARGS,
    /// An error of the system, such as a full disk.
    E_IO,
    /// A command took too long.
    E_TOOL_TIMEOUT,
    /// A command has failed, such as one that verifies.
    E_BUILD_FAIL,
    /// A command neither passed nor failed: its agent ended first.
    E_INTERRUPTED,
    /// The answer of a planner is no plan.
    E_MODEL,
}

/// A reason, with its code.
pub type Why = (Code, &'static str);

pub const NO_FOLDER: Why =
    (E_POLICY_DENIED, "it, or a part of it, is not a folder: name another path");
pub const OF_GIT: Why = (E_POLICY_DENIED, "git keeps its own files in it: name another folder");
pub const NO_FILE: Why = (E_POLICY_DENIED, "it is not a regular file: name another path");
pub const NOT_SHOWN: Why = (E_POLICY_DENIED, "its name has bytes that cannot be shown: rename it");
pub const HARD_LINK: Why =
    (E_POLICY_DENIED, "it has other names, perhaps outside: replace it with a copy");
pub const NOT_KEPT: Why = (
    E_POLICY_DENIED,
    "you have no right to set its owner, its group, its mode or its attributes: run the agent as \
     its owner, or replace it with a copy that you own",
);
pub const BUSY: Why = (E_POLICY_DENIED, "in use by another agent: wait for its end");
pub const REMOVES_MOST: Why = (E_POLICY_DENIED, "most lines go: a person must confirm it");
pub const SHELL: Why = (E_POLICY_DENIED, "a shell can do anything: a person must confirm it");
pub const DESTROYS: Why = (E_POLICY_DENIED, "it can destroy work: a person must confirm it");
pub const NO_CHECK: Why = (E_POLICY_DENIED, "no known check: a person must confirm it");

pub const MISSING: Why = (E_CONFLICT, "there is no such file");
pub const EXISTS: Why = (E_CONFLICT, "it exists: read it, and name its digest");
pub const STALE: Why = (E_CONFLICT, "it was changed after it was read");
pub const CHANGED: Why = (E_CONFLICT, "it was changed after the edit, and stays");
pub const FOLDER_GONE: Why = (E_CONFLICT, "its folder is gone");

pub const NO_EFFECT: Why = (E_INVALID_ARGS, "nothing would change");
pub const NOT_TEXT: Why = (E_INVALID_ARGS, "it is not text in UTF-8");
pub const NOT_STORED: Why = (E_INVALID_ARGS, "the store does not have these contents");
pub const NO_PROGRAM: Why =
    (E_INVALID_ARGS, "there is no such program: install it, or name another");
pub const NOTHING_TO_UNDO: Why = (E_INVALID_ARGS, "there is no edit to undo");

pub const NO_PROCESS: Why =
    (E_IO, "`/proc` does not show this process: run the agent where it does");
pub const INTERRUPTED: Why =
    (Code::E_INTERRUPTED, "it was interrupted, and may have had a part of its effect");
pub const SURVIVES: Why = (E_IO, "it was killed, and has not ended yet: try again when it has");

impl Refusal {
    pub fn new(at: impl Display, (code, why): (Code, impl Into<String>)) -> Self {
        Self { code, at: at.to_string(), why: why.into() }
    }

    pub fn system(at: impl Display, error: impl Display) -> Self {
        Self::new(at, (E_IO, error.to_string()))
    }
}

/// Says where the system has failed.
pub trait At<T> {
    fn at(self, at: impl Display) -> Result<T, Refusal>;
}

impl<T, E: Display> At<T> for Result<T, E> {
    fn at(self, at: impl Display) -> Result<T, Refusal> {
        self.map_err(|error| Refusal::system(at, error))
    }
}

impl Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.at.escape_debug(), self.why)
    }
}

impl Error for Refusal {}
