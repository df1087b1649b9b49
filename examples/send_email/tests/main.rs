//! The example as users run it: real processes, real SMTP, real kills.

#![allow(clippy::unwrap_used, reason = "a failing test should panic")]
#![allow(unreachable_pub, reason = "the server module is shared with the program")]

mod approvers;
mod bad_input;
mod branches;
mod crash;
#[path = "../server.rs"]
mod server;
mod world;
