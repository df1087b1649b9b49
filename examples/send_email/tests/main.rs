//! The example as users run it: real processes, real SMTP, real signals.

#![allow(clippy::unwrap_used, reason = "a failing test should panic")]
#![allow(unreachable_pub, reason = "the server module is shared with the program")]

mod bad_input;
mod branches;
mod deadlines;
mod frozen;
mod invite;
#[allow(dead_code, reason = "the tests need the constants of the tool only")]
#[path = "../mail.rs"]
mod mail;
#[path = "../server.rs"]
mod server;
mod story;
#[path = "../../testing.rs"]
mod testing;
mod world;
