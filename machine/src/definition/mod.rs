//! The one table: what a machine is, as plain data.

mod diagram;
mod fingerprint;
mod table;

pub use fingerprint::Fingerprint;
pub use table::{Definition, Edge, Field, StateDef};
