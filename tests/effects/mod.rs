//! The promises of irreversible actions and approvals. Rules run on both backends; freezes, kills and lock
//! files use real processes on one SQLite file. A bank counts the payments in the outside world.
//!
//! `PROPTEST_CASES` makes the model longer, and `PROPTEST_RNG_SEED` repeats a run of it.

mod actors;
mod again;
mod approval_end;
mod approvals;
mod approved;
mod ask_service;
mod attempts;
pub(crate) mod bank;
mod batch_gates;
mod begin;
mod borders;
mod callback;
mod cancel;
mod crash;
mod cut_off;
mod declined;
mod doubt;
mod effect;
mod endings;
mod fence;
mod frozen_override;
mod frozen_worker;
mod gate;
mod gate_answers;
mod gate_keys;
mod gate_race;
mod identity;
mod in_flight;
mod key;
mod late;
mod live_worker;
mod model;
mod perform;
mod permit;
mod policy;
mod question;
mod recover;
mod release;
mod report;
mod resume;
mod resume_checks;
mod resume_warning;
mod retries;
mod retry_of_child;
mod rules;
mod settle;
mod settling;
mod support;
mod taken_over;
mod timeout;
mod tokens;
pub(crate) mod tool;
mod tools;
mod worker;
