//! Tests of the module `typed`.

mod event;
mod moves;
mod narrow;
mod refused;
mod status;
