//! Tools as types.

use std::time::Duration;

use machine::contract::{Contract, Idempotent, Irreversible, Planned, Tool};
use machine_tests::actors::reasoning_node;
use serde::{Deserialize, Serialize};

/// Posts a letter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Post {
    pub(crate) to: String,
}

/// Where the letter is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tracking {
    pub(crate) number: u32,
    pub(crate) office: String,
}

impl Tool for Post {
    const SERVICE: &'static str = "letters";
    const METHOD: &'static str = "post";
    type Effect = Irreversible;
    type Receipt = Tracking;
    const SETTLING_TIME: Duration = Duration::ZERO;
}

/// Looks a letter up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Track {
    pub(crate) number: u32,
}

impl Tool for Track {
    const SERVICE: &'static str = "letters";
    const METHOD: &'static str = "track";
    type Effect = Idempotent;
    type Receipt = String;
}

pub(crate) fn letter(to: &str) -> Planned<Post> {
    let letter = Post { to: to.to_owned() };
    Planned::new(Contract::of(&letter, reasoning_node()).unwrap()).unwrap()
}

pub(crate) fn lookup(number: u32) -> Contract {
    Contract::of(&Track { number }, reasoning_node()).unwrap()
}
