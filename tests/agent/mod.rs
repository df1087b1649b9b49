//! Agent turns: what their protocol writes and refuses, a model of what can happen, and the queue
//! in a file, also with workers that are killed and frozen.

mod batches;
mod closed;
mod damaged;
mod ends;
mod events;
mod heads;
#[cfg(unix)]
mod killed;
mod late;
mod model;
mod orders;
mod outside;
#[cfg(unix)]
mod processes;
mod prompt;
mod pruned;
mod queue;
mod refusals;
mod repeats;
mod scenarios;
mod schedules;
mod sets;
mod steps;
mod submits;
mod support;
#[cfg(unix)]
mod suspects;
mod tally;
