//! Where machines are stored, so that they outlive their process.

mod error;
mod resume;
mod sqlite;

pub use error::StoreError;
pub use resume::Resume;
pub use sqlite::{Blocked, Check, CheckedMachine, Listed, OpenOptions, SqliteStore};
