//! A coding agent for one folder: it plans, asks a person, edits, runs commands, and repairs. It
//! needs Linux, for `openat2`, `renameat2` and `/proc`.

#![allow(unreachable_pub, reason = "`pub` marks the interface of a module, as in a library")]

#[cfg(target_os = "linux")]
mod terminal;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    terminal::cli::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("error: this program needs Linux");
    ExitCode::FAILURE
}
