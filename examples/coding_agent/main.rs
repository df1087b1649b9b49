//! The tools of a coding agent, by hand: it edits the files of one folder in sets that are made as
//! a whole or not at all, and that can be undone, and runs commands there. There is no agent yet.
//! It needs Linux, for `openat2`, `renameat2` and `/proc`.

#![allow(unreachable_pub, reason = "`pub` marks the interface of a module, as in a library")]

#[cfg(target_os = "linux")]
mod cli;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
use coding_agent::{commands, workspace};

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    cli::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("error: this program needs Linux");
    ExitCode::FAILURE
}
