//! Tests of the module `erased`.
#![allow(clippy::unwrap_used)]

mod apply;
mod border;
mod forged_moves;
mod forged_records;
mod model;
mod single_change;
mod walk;
