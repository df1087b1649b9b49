//! Tests of the room `contract`.
#![allow(clippy::unwrap_used)]

mod defer;
mod fields;
mod invalid;
mod key;
mod permit;
mod risk;
mod size;
