//! Tests of the module `view`.
#![allow(clippy::unwrap_used)]

mod confirmed;
mod consequence;
mod doubt;
mod example;
mod forgery;
mod labels;
mod prompt;
mod shop;
mod stopped;
mod trace;
mod transitions;
