//! Tests of the room `typed`.
#![allow(clippy::unwrap_used)]

mod event;
mod moves;
mod narrow;
mod refused;
mod status;
