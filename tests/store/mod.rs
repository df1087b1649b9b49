//! Tests of the module `store`.

mod absolute;
mod altered;
mod backup;
mod bad_files;
mod bare_states;
mod batch;
mod batch_refusals;
mod busy;
mod change;
pub(crate) mod child;
mod close;
mod deadlines;
mod files;
mod filled;
mod frozen_open;
mod growth;
mod imported;
mod interrupted;
mod lock_files;
mod moved;
mod observer;
mod own_key;
mod pages;
pub(crate) mod prune;
mod prune_file;
mod query;
mod race_processes;
mod read_only;
mod schema;
mod sessions;
mod strangers;
mod subscribe;
pub(crate) mod support;
mod unwritable;
mod verify;

pub(crate) use machine_tests::service;
