//! Machines whose table says what a state calls.

mod adopted;
mod asked_again;
mod declined;
mod handled;
mod leaving;
mod orders;
mod overdue;
mod permutations;
mod pruned;
mod refusals;
mod refused;
mod removed;
mod rounds;
mod run_time;
mod sets;
mod table;
#[cfg(unix)]
mod walks;
