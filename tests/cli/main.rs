//! Tests of the command line: the program, on files that the library wrote.
#![allow(clippy::unwrap_used)]

mod lists;
mod support;
