//! Tests of the module `view`.
#![allow(clippy::unwrap_used)]

mod confirmed;
mod consequence;
mod doubt;
mod fact;
mod fact_driver;
mod forgery;
mod labels;
mod prompt;
mod trace;
mod transitions;
