//! Machines in a SQLite file.

mod apply;
mod attempts;
mod backup;
mod blocking;
mod cached;
mod call;
mod call_line;
mod checkpoint;
mod child;
mod connection;
#[cfg(feature = "failpoints")]
pub mod cost;
mod crew;
mod deadline;
mod definitions;
mod fail;
mod failure;
mod format;
mod group;
mod identity;
mod inbox;
mod inode;
mod inspect;
mod journal;
mod lines;
mod message;
mod newborn;
mod observed;
mod open;
mod operations;
mod partial;
mod places;
mod precondition;
mod prune;
mod readers;
mod ready;
mod records;
mod rename;
mod row;
mod schema;
mod select;
mod sessions;
#[allow(clippy::module_inception)]
mod sqlite;
mod tools;
mod value;
mod watch;
mod work;
mod writer;
mod writing;

#[cfg(test)]
mod tests;

pub(crate) use {
    open::{open, open_for_reading},
    sqlite::Sqlite,
};
