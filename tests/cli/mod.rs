//! Tests of the command line: the program, on files that the library wrote.

mod accepted;
mod children;
mod chinese;
mod concerns;
mod decisions;
mod doubts;
mod failures;
mod files;
mod finding;
mod help;
mod hostile;
mod large;
mod lists;
mod maintenance;
mod messages;
mod operations;
mod questions;
mod support;
mod terminal;
mod watch;
