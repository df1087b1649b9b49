//! Why the store refuses.

mod commit;
mod load;
#[cfg(feature = "sqlite")]
mod open;
mod unavailable;

pub use commit::CommitError;
pub use load::LoadError;
#[cfg(feature = "sqlite")]
pub use open::OpenError;
pub use unavailable::Unavailable;
