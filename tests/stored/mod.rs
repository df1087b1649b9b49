//! Tests of the module `stored`.

mod apply;
mod author;
mod border;
mod context;
mod forged_moves;
mod forged_records;
mod model;
mod single_change;
mod stable_bytes;
mod summary;
mod walk;
