//! Tools as types.

use std::time::Duration;

use machine::contract::{Contract, Planned, Tool};
use machine_tests::actors::reasoning_node;
use serde::{Deserialize, Serialize};

/// Posts a letter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
#[serde(deny_unknown_fields)]
#[tool(letters.post, irreversible, receipt = Tracking, settling_time = Duration::ZERO)]
pub(crate) struct Post {
    pub(crate) to: String,
}

/// Where the letter is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tracking {
    pub(crate) number: u32,
    pub(crate) office: String,
}

/// Looks a letter up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
#[tool(letters.track, idempotent)]
pub(crate) struct Track {
    pub(crate) number: u32,
}

pub(crate) fn letter(to: &str) -> Planned<Post> {
    let letter = Post { to: to.to_owned() };
    Planned::new(Contract::of(&letter, reasoning_node()).unwrap()).unwrap()
}

pub(crate) fn lookup(number: u32) -> Contract {
    Contract::of(&Track { number }, reasoning_node()).unwrap()
}
