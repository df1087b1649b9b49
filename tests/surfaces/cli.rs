//! The program, on the file of a place.

use std::process::{Command, Output, Stdio};

use clap::Parser;
use machine_console::cli;
use serde_json::Value;

use super::Place;

impl Place {
    /// The program with these arguments, on this file.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = bare(&["--db"]);
        command.arg(self.file()).args(arguments);
        command
    }

    /// The program and its file, as in the commands that it prints.
    pub(crate) fn prefix(&self) -> String {
        format!("{} --db {}", env!("CARGO_BIN_EXE_machine-cli"), self.file().display())
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(&mut self.command(arguments))
    }

    /// The document that a command prints.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let ran = self.run(&[arguments, &["--json"]].concat());
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
        ran.json()
    }
}

/// The program with these arguments.
pub(crate) fn bare(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_machine-cli"));
    command
        .args(arguments)
        .env_remove("MACHINE_DB")
        .env_remove("NO_COLOR")
        // A build server is taken for a terminal with colours, whatever `TERM` says.
        .env_remove("CI")
        .env_remove("CLICOLOR")
        .env_remove("CLICOLOR_FORCE")
        .env("TERM", "xterm")
        .env("TZ", "UTC")
        .stdin(Stdio::null());
    command
}

/// The command in the arguments of a program that has those of the console.
pub(crate) fn parsed(arguments: &[&str]) -> cli::Command {
    #[derive(Parser)]
    struct Program {
        #[command(subcommand)]
        command: cli::Command,
    }
    Program::parse_from([&["program"], arguments].concat()).command
}

/// The result of running a program.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ran {
    fn from(Output { status, stdout, stderr }: Output) -> Self {
        Self {
            code: status.code().unwrap_or(-1),
            out: String::from_utf8(stdout).unwrap(),
            err: String::from_utf8(stderr).unwrap(),
        }
    }
}

impl Ran {
    pub(crate) fn of(command: &mut Command) -> Self {
        command.output().unwrap().into()
    }

    /// It ended with this code, and said this to people.
    #[track_caller]
    pub(crate) fn failed(&self, code: i32, text: &str) {
        assert_eq!(self.code, code, "{self:?}");
        assert!(self.err.contains(text), "{text:?} is not in {self:?}");
        assert!(!self.err.contains("panicked"), "{self:?}");
    }

    /// The output of a success.
    #[track_caller]
    pub(crate) fn done(&self) -> &str {
        assert_eq!(self.code, 0, "{self:?}");
        &self.out
    }

    /// The document, which is on one line.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.out.lines().count(), 1, "{self:?}");
        serde_json::from_str(&self.out).unwrap()
    }

    /// The output of a success contains all of these.
    #[track_caller]
    pub(crate) fn shows(&self, texts: &[&str]) {
        for text in texts {
            assert!(self.done().contains(text), "{text:?} is not in {self:?}");
        }
    }
}
