//! What irreversible actions and approvals promise, shown with real processes and signals on one
//! SQLite file, and with a counting server: what it counts is what happened to the outside world.
//!
//! `PROPTEST_CASES` makes the model longer, and `PROPTEST_RNG_SEED` repeats a run of it.

mod actors;
mod approved;
pub(crate) mod bank;
mod borders;
mod callback;
mod cut_off;
mod endings;
mod frozen_override;
mod frozen_worker;
mod gate_answers;
mod gate_closed;
mod gate_once;
mod gate_race;
mod model;
mod permit;
mod settling;
mod support;
mod taken_over;
pub(crate) mod tool;
mod worker;
