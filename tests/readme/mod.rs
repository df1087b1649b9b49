//! The README matches the code.

mod architecture;
mod circles;
mod contributing;
mod dependencies;
mod first_workflow;
mod limits;
mod literals;
mod requirements;
mod snippet;
mod specification;
mod worker;

use std::{
    fs,
    path::{Path, PathBuf},
};

const README: &str = include_str!("../../README.md");

/// The fenced blocks of one language.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    let starts = README.match_indices(&fence).map(|(at, _)| at + fence.len());
    starts.map(|start| README[start..].split("```").next().unwrap()).collect()
}

/// The source files below a folder.
fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
}

/// The README's programs are the snippets that compile and run here.
#[test]
fn the_programs_are_those_that_run() {
    let sources = [(include_str!("snippet.rs"), 2), (include_str!("worker.rs"), 3)];
    let parts = sources.iter().flat_map(|(source, expected)| {
        let parts: Vec<&str> = source.split("// [README\n").skip(1).collect();
        assert_eq!(parts.len(), *expected);
        parts
    });
    for part in parts {
        let shown = part.split("// README]").next().unwrap().trim_end_matches(' ');
        let indent = if shown.starts_with("    ") { "    " } else { "" };
        let lines: Vec<&str> =
            shown.lines().map(|line| line.strip_prefix(indent).unwrap_or(line)).collect();
        let shown = format!("{}\n", lines.join("\n"));
        assert!(blocks("rust").contains(&shown.as_str()), "the README lacks:\n{shown}");
    }
}

/// The compile error is the compiler's output; the README omits the notes.
#[test]
fn the_compile_error_is_the_compilers() {
    let printed = include_str!("../../ui-tests/fail/invoke/forged.stderr");
    let shown = blocks("text")[0];
    assert!(printed.contains(shown), "the compiler does not print:\n{shown}");
}

/// The enum, its tool and its worker are those of the example, which is as short as the README says.
#[test]
fn the_workflow_is_the_examples() {
    let source = include_str!("../../examples/order/main.rs");
    assert!(source.lines().count() <= 90);
    for part in &blocks("rust")[..3] {
        assert!(source.contains(part), "not in the example:\n{part}");
    }
}

/// The two commands start a line, so that `.ci/run` finds them.
#[test]
fn the_two_commands_are_there() {
    let commands: Vec<_> = blocks("sh").iter().flat_map(|block| block.lines()).collect();
    assert!(commands.contains(&"cargo run --package examples"));
    assert!(commands.contains(&"cargo test --workspace"));
}
