//! The programs that people copy decide by types: literals in them are texts for people, names and data, and nothing is
//! compared with one.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::blocks;

/// Their subject is text: tools that are known at run time only, a model that follows a script, the output of programs, and
/// requests over HTTP.
const ABOUT_TEXT: [&str; 4] = [
    "workflow_engine/office.rs",
    "workflow_engine/script.rs",
    "send_email/story.rs",
    "otlp/collector.rs",
];

/// A comparison with a literal, or a pattern.
const DECIDES: [&str; 9] = [
    "== \"",
    "!= \"",
    "\" =>",
    "\" |",
    "\" if ",
    "contains(\"",
    "starts_with(\"",
    "ends_with(\"",
    "matches!(\"",
];

/// The lines of a program that decide something by comparing text.
fn decisions(source: &str) -> Vec<&str> {
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.filter(|line| DECIDES.iter().any(|it| line.contains(it))).collect()
}

/// The programs of the examples, without their tests.
fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs")
            && !path.to_str().unwrap().contains("/test")
        {
            found.push(path);
        }
    }
}

#[test]
fn no_program_decides_by_comparing_text() {
    let mut found = Vec::new();
    programs(Path::new("../examples"), &mut found);
    assert!(found.len() > 20, "{found:?}");
    found.retain(|path| !ABOUT_TEXT.iter().any(|it| path.ends_with(it)));
    for path in found {
        let source = fs::read_to_string(&path).unwrap();
        assert_eq!(decisions(&source), [""; 0], "{}", path.display());
    }
    assert_eq!(decisions(include_str!("guide.rs")), [""; 0]);
    for block in blocks("rust") {
        assert_eq!(decisions(block), [""; 0]);
    }
}

#[test]
fn decisions_by_text_are_seen() {
    for line in [
        "Some([payment]) if payment.status == \"completed\" => pay(),",
        "if status != \"completed\" {",
        "\"completed\" => Next::to(order.pay(runner)),",
        "\"completed\" | \"waiting\" => Next::Wait,",
        "if error.contains(\"refused\") {",
    ] {
        assert_eq!(decisions(line), [line]);
    }
    let harmless = "// status == \"completed\"\nlet receipt = Applied::new(\"paid\");";
    assert_eq!(decisions(harmless), [""; 0]);
}
