//! Tests of the module `view`.
#![allow(clippy::unwrap_used)]

mod consequence;
mod forgery;
mod labels;
mod prompt;
mod trace;
mod transitions;
