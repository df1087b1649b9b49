use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::refusal::{Code::E_POLICY_DENIED, Refusal};

/// What the names of temporary files begin with. No tool reads or writes such a file.
pub const TEMPORARY: &str = ".agent-edit-";

/// A path beneath the folder: relative, without `..`, and nothing of `.git`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub struct Place(String);

impl Place {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The folder that it is in, and its name there.
    pub fn split(&self) -> (&str, &str) {
        self.0.rsplit_once('/').unwrap_or((".", &self.0))
    }

    /// The folders on the way to it, from the top.
    pub fn ancestors(&self) -> impl Iterator<Item = Self> {
        self.0.match_indices('/').map(|(at, _)| Self(self.0[..at].to_owned()))
    }
}

/// Why a path with this part is refused.
fn fault(part: &str) -> Option<&'static str> {
    let faults = [
        (part.is_empty(), "it is absolute, or has an empty part"),
        ([".", ".."].contains(&part), "`.` and `..` are not allowed"),
        (part.eq_ignore_ascii_case(".git"), "nothing of `.git` is read or written"),
        (part.starts_with(TEMPORARY), "it has the name of a temporary file"),
        (part.chars().any(char::is_control), "it has a control character"),
    ];
    faults.into_iter().find_map(|(is_fault, why)| is_fault.then_some(why))
}

impl FromStr for Place {
    type Err = Refusal;

    fn from_str(path: &str) -> Result<Self, Refusal> {
        match path.split('/').find_map(fault) {
            None => Ok(Self(path.to_owned())),
            Some(why) => Err(Refusal::new(path, (E_POLICY_DENIED, why))),
        }
    }
}

impl TryFrom<String> for Place {
    type Error = Refusal;

    fn try_from(path: String) -> Result<Self, Refusal> {
        path.parse()
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
