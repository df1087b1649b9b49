//! Durable storage for machines.

mod error;
mod resume;
mod sqlite;

pub use error::StoreError;
pub use resume::Resume;
pub use sqlite::{Blocked, Check, CheckedMachine, Listed, OpenOptions, SqliteStore};
