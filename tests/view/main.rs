//! Tests of the module `view`.
#![allow(clippy::unwrap_used)]

mod accepted;
mod blocks;
mod confirmed;
mod consequence;
mod data;
mod digests;
mod doubt;
mod due;
mod example;
mod fact;
mod fact_driver;
mod forgery;
mod inbox;
mod labels;
mod languages;
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
