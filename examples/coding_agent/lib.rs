//! A coding agent: it edits the files of one folder in sets that are made as a whole or not at all,
//! and that can be undone, and runs commands there. It needs Linux, for `openat2`, `renameat2` and
//! `/proc`.

#![cfg(target_os = "linux")]
#![allow(
    missing_docs,
    missing_debug_implementations,
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    reason = "nothing but the program and its tests uses it"
)]

pub mod commands;
pub mod plan;
pub mod planner;
pub mod workspace;
