//! The example as people run it: real processes, real SMTP, real kills.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
#![allow(unreachable_pub, reason = "the server module is shared with the program")]

mod approvers;
mod bad_input;
mod branches;
mod crash;
#[path = "../server.rs"]
mod server;
mod world;
