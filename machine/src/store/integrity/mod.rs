//! Verification of what is stored, and whether a program can read it.

mod attempts;
mod chain;
pub(crate) mod check;
mod check_any;
pub(crate) mod declared;
mod operations;
pub(crate) mod verify;
