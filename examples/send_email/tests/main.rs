//! The functions of the program in this process, in virtual time; and the program as users run it:
//! real processes, real SMTP, real signals.

#![allow(clippy::unwrap_used, reason = "a failing test should panic")]
#![allow(unreachable_pub, reason = "the modules of the program say `pub`")]

#[path = "../ask.rs"]
mod ask;
#[path = "../invite.rs"]
mod invite;
#[path = "../mail.rs"]
mod mail;
#[path = "../server.rs"]
mod server;
#[path = "../show.rs"]
mod show;

mod bad_input;
mod branches;
mod desk;
mod slow;
mod story;
#[path = "../../testing.rs"]
mod testing;
mod world;
