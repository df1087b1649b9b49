//! Verification of the stored data, and of a program's ability to read it.

mod attempts;
mod chain;
pub(crate) mod check;
pub(crate) mod declared;
mod operations;
mod outcomes;
pub(crate) mod taken;
pub(crate) mod verify;
