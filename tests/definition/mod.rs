//! Tests of `machine::definition`.

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
pub(crate) mod xml;
