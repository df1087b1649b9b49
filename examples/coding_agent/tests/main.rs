//! Edits of a folder and commands there, while a person works there too, processes die and disks
//! are full.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a failing test should panic")]
#![allow(unreachable_pub, reason = "the modules of the program say `pub`")]

#[path = "../commands/mod.rs"]
mod commands;
#[path = "../workspace/mod.rs"]
mod workspace;

mod desk;
mod edits;
mod outside;
mod patches;
mod person;
mod planner;
mod plans;
mod property;
mod runs;
mod terminal;
#[path = "../../testing.rs"]
mod testing;
