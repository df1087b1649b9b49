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
    /// The answer of a planner is no plan.
    E_MODEL,
}

/// A reason, with its code.
pub type Why = (Code, &'static str);

pub const EMPTY_PART: Why = (E_POLICY_DENIED, "it is absolute, or has an empty part");
pub const DOTS: Why = (E_POLICY_DENIED, "`.` and `..` are not allowed");
pub const GIT: Why = (E_POLICY_DENIED, "nothing of `.git` is read or written");
pub const TEMPORARY: Why = (E_POLICY_DENIED, "it has the name of a temporary file");
pub const CONTROL: Why = (E_POLICY_DENIED, "it has a control character");
pub const LINK: Why = (E_POLICY_DENIED, "a symbolic link is on the way");
pub const OUTSIDE: Why = (E_POLICY_DENIED, "it is outside of the folder");
pub const NO_FOLDER: Why = (E_POLICY_DENIED, "it, or a part of it, is not a folder");
pub const NO_FILE: Why = (E_POLICY_DENIED, "it is not a regular file");
pub const HARD_LINK: Why = (E_POLICY_DENIED, "it has other names, perhaps outside");
pub const BUSY: Why = (E_POLICY_DENIED, "in use by another agent: wait for its end");
pub const STORE_INSIDE: Why = (E_POLICY_DENIED, "the store and the folder are not apart");
pub const STORE_FAR: Why = (E_POLICY_DENIED, "the store is on another filesystem");
pub const STORE_OF_OTHER: Why = (E_POLICY_DENIED, "it is the store of another folder");
pub const REMOVES_MOST: Why = (E_POLICY_DENIED, "most lines go: a person must confirm it");
pub const SHELL: Why = (E_POLICY_DENIED, "a shell can do anything: a person must confirm it");
pub const DESTROYS: Why = (E_POLICY_DENIED, "it can destroy work: a person must confirm it");

pub const MISSING: Why = (E_CONFLICT, "there is no such file");
pub const EXISTS: Why = (E_CONFLICT, "it exists: read it, and name its digest");
pub const STALE: Why = (E_CONFLICT, "it was changed after it was read");
pub const CHANGED: Why = (E_CONFLICT, "it was changed after the edit, and stays");
pub const FOLDER_GONE: Why = (E_CONFLICT, "its folder is gone");
pub const NO_CONTEXT: Why = (E_CONFLICT, "a hunk has no context, so no place");
pub const NOT_FOUND: Why = (E_CONFLICT, "the context of a hunk was not found");
pub const AMBIGUOUS: Why = (E_CONFLICT, "the context of a hunk is there more than once");
pub const PATCHED: Why = (E_CONFLICT, "the lines of a hunk are there already");

pub const NO_HUNK: Why = (E_INVALID_ARGS, "a hunk begins with a line `@@`");
pub const NO_MARK: Why = (E_INVALID_ARGS, "a line of a hunk begins with a space, `-` or `+`");
pub const NO_EFFECT: Why = (E_INVALID_ARGS, "nothing would change");
pub const OVERLAP: Why = (E_INVALID_ARGS, "two hunks overlap");
pub const TOO_LARGE: Why = (E_INVALID_ARGS, "it is larger than 4 MiB");
pub const NOT_TEXT: Why = (E_INVALID_ARGS, "it is not text in UTF-8");
pub const NOT_STORED: Why = (E_INVALID_ARGS, "the store does not have these contents");
pub const NO_PROGRAM: Why = (E_INVALID_ARGS, "there is no such program");
pub const NOTHING_TO_UNDO: Why = (E_INVALID_ARGS, "there is no edit to undo");

pub const NO_PROCESS: Why = (E_IO, "`/proc` does not show this process");
pub const SURVIVES: Why = (E_IO, "it was killed, and has not ended yet");

impl Refusal {
    pub fn new(at: impl Display, (code, why): Why) -> Self {
        Self { code, at: at.to_string(), why: why.to_owned() }
    }

    pub fn system(at: impl Display, error: impl Display) -> Self {
        Self { code: E_IO, at: at.to_string(), why: error.to_string() }
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
