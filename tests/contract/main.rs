//! Tests of the module `contract`.
#![allow(clippy::unwrap_used)]

mod defer;
mod facts;
mod fields;
mod invalid;
mod key;
mod permit;
mod risk;
mod size;
