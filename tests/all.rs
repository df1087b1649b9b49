//! The tests of all topics but those of `records` in one program, which links the library once. One
//! topic: `cargo t-topic store::`.
//!
//! `PROPTEST_CASES` makes the models and properties longer, and `PROPTEST_RNG_SEED` repeats a run.
//! Tests that change their process (failpoints, a global subscriber) are in separate programs, or
//! start this program again.
#![allow(clippy::unwrap_used, reason = "a failing test should panic")]

mod agent;
mod cli;
mod definition;
#[cfg(unix)]
mod effects;
mod http;
mod machines;
mod readme;
mod store;
mod surfaces;
mod testing;
mod tools;
mod typed;
mod view;
mod worker;

#[cfg(unix)]
use machine_tests::process;

#[test]
#[should_panic(expected = "TEST_SEED is `one`, which is not a number")]
fn a_seed_that_is_not_a_number_is_refused() {
    let _: u64 = machine_tests::random::parse("TEST_SEED", "one".as_ref());
}
