//! The promises of irreversible actions and approvals, on SQLite files; the model also runs in
//! memory. Freezes, kills and lock files use real processes on one file. A bank counts the payments
//! in the outside world.
//!
//! `PROPTEST_CASES` makes the model longer, and `PROPTEST_RNG_SEED` repeats a run of it.

mod again;
mod answers;
mod approvals;
mod approved;
mod ask_service;
mod attempts;
pub(crate) mod bank;
mod begin;
mod borders;
mod callback;
mod cancel;
mod cut_errors;
mod cut_off;
mod doubt;
mod effect;
mod endings;
mod fence;
mod frozen;
mod gate;
mod gate_ends;
mod identity;
mod in_flight;
mod invocation_model;
mod late;
mod model;
mod office;
mod perform;
mod place;
mod prelude;
mod question;
mod release;
mod repeats;
mod report;
mod resume;
mod retries;
mod rules;
mod settle;
mod support;
mod taken_over;
mod timed_out;
pub(crate) mod tool;
mod tools;
mod worker;
