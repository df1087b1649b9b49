//! Tests of the module `view`.
#![allow(clippy::unwrap_used)]

mod accepted;
mod confirmed;
mod consequence;
mod data;
mod doubt;
mod example;
mod fact;
mod fact_driver;
mod forgery;
mod inbox;
mod labels;
mod lines;
mod newer;
mod observed;
mod position;
mod prompt;
mod secrets;
mod sessions;
mod shop;
mod stopped;
mod trace;
mod transitions;
mod unconfirmed;
