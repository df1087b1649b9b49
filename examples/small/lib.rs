//! Small programs, one idea each, with the test that runs it.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a failing test should panic"))]

#[cfg(test)]
mod socket;
