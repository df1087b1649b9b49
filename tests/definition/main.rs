//! Tests of `machine::definition`.
#![allow(clippy::unwrap_used)]

mod actors;
mod choices;
mod compare;
mod computed;
mod drawings;
mod fingerprint;
mod graph;
mod order;
mod owned;
mod table;
mod xml;
