//! Tests of the module `view`.

mod accepted;
mod call_error;
mod calls;
mod consequence;
mod data;
mod digests;
mod doubt;
mod due;
mod example;
mod fact;
mod inbox;
mod languages;
mod lines;
mod newer;
mod observed;
mod position;
mod prelude;
mod prompt;
mod reworded;
mod secrets;
mod sessions;
mod shop;
mod situations;
mod trace;
mod transitions;
