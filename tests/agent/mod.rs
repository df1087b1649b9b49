//! Agent turns: what their protocol writes and refuses, a model of what can happen, and the queue
//! in a file.

mod batches;
mod heads;
mod model;
mod queue;
mod refusals;
mod schedules;
mod steps;
mod support;
mod tally;
