//! Tests that kill processes, race, and compare with a model.
//!
//! `MACHINE_CRASH_ROUNDS`, `MACHINE_STRESS_SECONDS` and `PROPTEST_CASES` make them longer, and
//! `TEST_SEED` repeats a run.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod cancelled;
mod close;
mod crash;
mod created;
mod frozen;
mod indeterminate;
mod invoked;
mod machines;
mod memory;
mod model;
mod moved;
mod spawn;
mod stress;
mod support;

use machine_tests::process;
