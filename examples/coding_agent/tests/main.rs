//! Edits of a folder and commands there, while a person works there too, processes die and disks
//! are full.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a failing test should panic")]
#![allow(unreachable_pub, reason = "`pub` marks what other modules of the tests use")]

use coding_agent::{commands, workspace};

mod attempts;
mod consent;
mod desk;
mod doubt;
mod edits;
#[path = "../terminal/face.rs"]
#[allow(dead_code, reason = "only its texts are tested")]
mod face;
mod hostile;
mod inspector;
mod limits;
mod moves;
mod outside;
mod patches;
mod person;
mod planner;
mod plans;
mod policy;
mod property;
mod repository;
mod rounds;
mod runs;
mod screen;
mod sets;
mod stops;
mod terminal;
#[path = "../../testing.rs"]
mod testing;
