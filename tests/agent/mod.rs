//! The protocol of agent turns: what it writes, what it refuses, and a model of what can happen.

mod batches;
mod model;
mod refusals;
mod schedules;
mod support;
mod tally;
