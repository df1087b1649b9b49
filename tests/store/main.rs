//! Tests of the module `store`.
#![allow(clippy::unwrap_used)]

mod approvals;
mod bad_files;
mod begin;
mod busy;
mod change;
mod child;
mod commit;
mod crash;
mod create;
mod deadlines;
mod durable;
mod foreign_files;
mod gate;
mod key;
mod late;
mod live_worker;
mod lock_files;
mod odd_rows;
mod open_at_once;
mod own_key;
mod race_processes;
mod race_threads;
mod read_only;
mod recover;
mod resume;
mod resume_checks;
mod resume_warning;
mod rules;
mod settle;
mod support;
mod tampered;
mod unwritable;
mod versions;
