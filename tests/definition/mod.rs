//! Tests of `machine::definition`.

mod calls;
mod choices;
mod compare;
mod computed;
mod drawings;
mod fingerprint;
mod invocations;
pub(crate) mod order;
mod owned;
mod shared;
mod staying;
mod table;
mod texts;
pub(crate) mod xml;
