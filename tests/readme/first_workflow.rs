//! The program of the guide and of the README, run as they say.

use std::{os::unix::process::CommandExt, process::Command};

use super::{README, blocks, in_doubt};
use crate::surfaces::{Place, end};

pub(super) const GUIDE: &str = include_str!("../../machine/src/docs/guide.md");

#[test]
fn the_program_is_the_one_that_runs() {
    let shown = GUIDE.split("```rust,no_run\n").nth(1).unwrap().split("```").next().unwrap();
    assert_eq!(shown, include_str!("guide.rs"));
}

/// Runs a program in the folder of the guide's reader; returns its output.
fn run(folder: &tempfile::TempDir, program: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(program);
    // Printed commands begin with the name of the program.
    let output = command.arg0("machine").args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn machine(folder: &tempfile::TempDir, arguments: &[&str]) -> String {
    let arguments = [&["--db", "claims.db"], arguments].concat();
    run(folder, env!("CARGO_BIN_EXE_machine-cli"), &arguments)
}

/// The list before the answer.
fn asked(folder: &tempfile::TempDir) -> String {
    run(folder, env!("CARGO_BIN_EXE_guide"), &["17"]);
    machine(folder, &["list"])
}

/// The gate that a list shows.
fn gate(listed: &str) -> &str {
    listed.split("approve ").nth(1).unwrap().split_whitespace().next().unwrap()
}

/// The cells of a list, without the id of its gate and without times.
fn cells(listed: &str) -> Vec<Vec<String>> {
    let rows = listed.lines().filter(|line| line.contains('│'));
    let cells = |row: &str| {
        let row = row.replace(gate(listed), "GATE");
        let mut cells: Vec<String> = row.split('│').map(|cell| cell.trim().to_owned()).collect();
        cells.remove(2);
        cells
    };
    rows.map(cells).collect()
}

#[test]
fn the_readme_shows_the_question() {
    let shown = blocks(README, "text")[1];
    let listed = asked(&tempfile::tempdir().unwrap());
    let attention = listed.split("\nMachines\n").next().unwrap();
    assert_eq!(shown.lines().next(), attention.lines().next());
    assert_eq!(cells(shown), cells(attention));
}

#[test]
fn the_readme_has_the_commands_of_the_guide() {
    let id = gate(blocks(README, "text")[1]);
    let commands: Vec<&str> =
        blocks(README, "sh")[..2].iter().flat_map(|block| block.lines()).collect();
    assert_eq!(commands.len(), 5);
    for command in commands {
        assert!(GUIDE.contains(&format!("\n{}\n", command.replace(id, "GATE"))), "{command}");
    }
}

/// The state of the claim after this answer.
fn answered(answer: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let listed = asked(&folder);
    for word in ["Needs attention", "waits for a person", "ASKED", "DEFERRED"] {
        assert!(listed.contains(word), "{word}: {listed}");
    }
    machine(&folder, &[&[answer[0], gate(&listed)], &answer[1..]].concat());
    run(&folder, env!("CARGO_BIN_EXE_guide"), &[]);
    machine(&folder, &["list"])
}

#[test]
fn an_approved_refund_is_paid() {
    let listed = answered(&["approve", "--as", "ann", "--yes"]);
    assert!(listed.contains("PAID") && listed.contains("SUCCESS"), "{listed}");
    assert!(!listed.contains("Needs attention"), "{listed}");
}

#[test]
fn a_declined_refund_is_not() {
    let listed = answered(&["decline", "--as", "ann", "--reason", "too late", "--yes"]);
    assert!(listed.contains("REFUSED") && !listed.contains("SUCCESS"), "{listed}");
}

#[tokio::test]
async fn a_refund_in_doubt_is_confirmed() {
    let place = Place::new().await;
    let id = place.doubt("bob@example.com").await;
    let command = blocks(README, "sh")[2].trim_end();
    in_doubt::run(&place, command, ["claims.db", "ID"], &end(id)).done();
    assert_eq!(place.label(id).await.to_string(), "SUCCESS");
    let done = place.json(&["show", &end(id)]);
    assert_eq!(done["execution"]["result"], "transfer for order 18");
}

/// A program returns the error from `main`, which prints its `Debug`.
#[test]
fn an_error_of_main_is_a_text_for_people() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("claims.db"), "not a database, but some text ".repeat(200))
        .unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_guide")).current_dir(&folder).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.starts_with("Error: ") && !text.contains('{'), "{text}");
    assert!(
        text.ends_with("claims.db is not a database; use another file, or move this one away\n"),
        "{text}"
    );
}
