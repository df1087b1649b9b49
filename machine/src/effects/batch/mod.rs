//! Writes that happen together.

#[allow(clippy::module_inception, reason = "it is the main type")]
mod batch;
mod calls;
mod earlier_try;
mod item;
mod write;

pub use batch::Batch;
