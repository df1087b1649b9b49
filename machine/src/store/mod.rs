//! Where machines are kept, so that they outlive their process.

mod error;
mod resume;
mod sqlite;

pub use error::StoreError;
pub use resume::Resume;
pub use sqlite::{Listed, OpenOptions, SqliteStore};
