//! What the README shows is what there is.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod snippet;

const README: &str = include_str!("../../README.md");

/// The fenced blocks of one language.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    let starts = README.match_indices(&fence).map(|(at, _)| at + fence.len());
    starts.map(|start| README[start..].split("```").next().unwrap()).collect()
}

/// The code of a user's program is code that compiles and runs here.
#[test]
fn the_program_is_the_one_that_runs() {
    let source = include_str!("snippet.rs");
    let shown =
        source.split("// [README\n").nth(1).unwrap().split("    // README]").next().unwrap();
    let lines: Vec<&str> =
        shown.lines().map(|line| line.strip_prefix("    ").unwrap_or(line)).collect();
    let shown = format!("{}\n", lines.join("\n"));
    assert!(blocks("rust").contains(&shown.as_str()), "the README lacks:\n{shown}");
}

/// The compile error is what the compiler prints; the README leaves out where the bound stands.
#[test]
fn the_compile_error_is_the_compilers() {
    let printed = include_str!("../../ui-tests/fail/execution/waiting_succeed.stderr");
    let shown = blocks("text")[0];
    assert!(printed.starts_with(shown), "the compiler prints:\n{printed}");
}

/// The enum is the library's own; `// ..` stands for lines that the README leaves out.
#[test]
fn the_enum_is_the_librarys() {
    let source = include_str!("../../machine/src/contract/execution_machine.rs");
    for line in blocks("rust")[0].lines().filter(|line| !line.contains("{ ")) {
        assert!(line.trim() == "// .." || source.contains(line), "not in the library: {line}");
    }
}

/// The two commands stand at the start of a line, where `.ci/run` finds them.
#[test]
fn the_two_commands_are_there() {
    let commands: Vec<_> = blocks("sh").iter().flat_map(|block| block.lines()).collect();
    assert!(commands.contains(&"cargo run --package examples"));
    assert!(commands.contains(&"cargo test --workspace"));
}
