//! Tests of `machine::definition`.

mod calls;
mod changes;
mod choices;
mod compare;
mod computed;
mod drawings;
mod fingerprint;
mod invocations;
mod mutated;
pub(crate) mod order;
mod owned;
mod shared;
mod staying;
mod strands;
mod table;
mod texts;
pub(crate) mod versions;
pub(crate) mod xml;
