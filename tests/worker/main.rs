//! The worker: machines that are driven, messages that wait, deadlines that fire.

#![allow(clippy::unwrap_used, reason = "tests")]

mod basics;
mod shop;
