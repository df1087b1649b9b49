//! Processes that use a store, and proof that they have ended.

pub(crate) mod host;
pub(crate) mod lock_file;
pub(crate) mod worker_lock;
