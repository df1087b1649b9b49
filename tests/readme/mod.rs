//! The README matches the code, and is short.

mod architecture;
mod circles;
mod comments;
mod contributing;
mod decisions;
mod dependencies;
mod first_workflow;
mod in_doubt;
mod limits;
mod literals;
mod requirements;
mod specification;

use std::{
    fs,
    path::{Path, PathBuf},
};

const README: &str = include_str!("../../README.md");

/// The most words of the README outside of its blocks of code.
const MOST_WORDS: usize = 1000;

/// The fenced blocks of one language in a page.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    let starts = page.split(&fence).skip(1);
    starts.map(|start| start.split("```").next().unwrap()).collect()
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

#[test]
fn it_is_short() {
    let words = README.split("```").step_by(2).flat_map(str::split_whitespace);
    let count = words.filter(|word| word.contains(char::is_alphanumeric)).count();
    assert!(count <= MOST_WORDS, "{count} words; move some to the pages of the documentation");
}

/// The first enum has a wrong step, and the compiler prints the error that is shown; the README
/// omits the notes.
#[test]
fn the_compile_error_is_the_compilers() {
    let program = include_str!("../../ui-tests/fail/typestate/review.rs");
    assert!(program.contains(blocks(README, "rust")[0]), "the program is not this one:\n{program}");
    let printed = include_str!("../../ui-tests/fail/typestate/review.stderr");
    assert!(printed.starts_with(blocks(README, "text")[0]), "the compiler prints:\n{printed}");
}

/// No program is in the README that no test runs.
#[test]
fn the_program_is_the_guides() {
    let [_, shown] = blocks(README, "rust")[..] else { panic!("a program that is not compared") };
    let (_, program) = include_str!("guide.rs").split_once("\n\n").unwrap();
    assert_eq!(shown, program);
    assert!(shown.lines().count() <= 50);
    let [dependencies] = blocks(README, "toml")[..] else { panic!("several dependencies") };
    assert!(first_workflow::GUIDE.contains(&format!("```toml\n{dependencies}```")));
}

/// The two commands start a line, so that `.ci/run` finds them.
#[test]
fn the_two_commands_are_there() {
    let commands = blocks(README, "sh").pop().unwrap();
    assert_eq!(commands, "cargo run --package examples\ncargo test --workspace\n");
}

#[test]
fn links_lead_to_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let targets = README.split("](").skip(1).map(|rest| rest.split([')', '#']).next().unwrap());
    let paths: Vec<&str> = targets.filter(|target| !target.starts_with("https://")).collect();
    assert!(paths.len() > 10, "{paths:?}");
    for path in paths {
        assert!(root.join(path).exists(), "there is no {path}");
    }
}
