//! Tests of the command line: the program, on files that the library wrote.

mod calls;
mod chinese;
mod clock;
mod concerns;
mod decisions;
mod doubts;
mod failures;
mod files;
mod growth;
mod help;
mod hostile;
mod lists;
mod maintenance;
mod messages;
mod operations;
mod receipts;
mod terminal;
pub(crate) mod turns;
