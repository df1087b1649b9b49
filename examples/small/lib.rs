//! Small programs, one idea each, with the test that runs it; and the parts of the coding agent,
//! whose documentation has programs that must not compile.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a failing test should panic"))]

#[cfg(test)]
mod approval;
#[cfg(target_os = "linux")]
#[path = "../coding_agent/commands/mod.rs"]
#[allow(
    missing_docs,
    missing_debug_implementations,
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    reason = "it is a part of a program, which nothing else uses"
)]
pub mod commands;
#[cfg(test)]
mod deadline;
#[cfg(test)]
mod model;
#[cfg(target_os = "linux")]
#[path = "../coding_agent/plan/mod.rs"]
#[allow(
    missing_docs,
    missing_debug_implementations,
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    reason = "it is a part of a program, which nothing else uses"
)]
pub mod plan;
#[cfg(test)]
mod review;
#[cfg(test)]
mod server;
#[cfg(test)]
mod several;
#[cfg(test)]
mod socket;
#[cfg(test)]
mod upgrade;
pub mod upload;
#[cfg(test)]
mod views;
#[cfg(target_os = "linux")]
#[path = "../coding_agent/workspace/mod.rs"]
#[allow(
    missing_docs,
    missing_debug_implementations,
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    reason = "it is a part of a program, which nothing else uses"
)]
pub mod workspace;
