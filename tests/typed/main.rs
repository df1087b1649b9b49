//! Tests of the module `typed`.
#![allow(clippy::unwrap_used)]

mod event;
mod moves;
mod narrow;
mod refused;
mod status;
