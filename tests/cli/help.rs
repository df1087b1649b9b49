//! The texts of `--help`.

use clap::{CommandFactory, Parser};
use snapbox::{assert_data_eq, file};

use crate::surfaces::{Ran, bare};

#[test]
fn the_help_says_all() {
    let help = Ran::of(bare(&["--help"]).env("COLUMNS", "100"));
    // The program of this test has another name.
    assert_data_eq!(help.done().replace("machine-cli", "machine"), file!["help/machine.txt"].raw());
}

/// Each command has a help text, and each of its arguments.
#[test]
fn every_argument_is_explained() {
    #[derive(Parser)]
    struct Cli {
        #[command(subcommand)]
        _command: machine_console::cli::Command,
    }
    let commands = Cli::command();
    commands.clone().debug_assert();
    assert!(commands.get_subcommands().count() >= 19);
    for command in commands.get_subcommands() {
        assert!(command.get_about().is_some(), "{}", command.get_name());
        for argument in command.get_arguments() {
            assert!(argument.get_help().is_some(), "{} {}", command.get_name(), argument.get_id());
        }
    }
}
