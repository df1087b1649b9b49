//! Tests of the room `definition`.
#![allow(clippy::unwrap_used)]

mod actors;
mod fingerprint;
mod graph;
mod table;
