//! The table of requirements in `CONTRIBUTING.md` has all tests of each of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use super::{
    contributing::PAGE,
    rust_files,
    specification::{ROWS, rows},
};

/// How the ids of requirements begin.
const SERIES: [&str; 5] = ["EX-", "OB-", "WF-", "TN-", "OR-"];

/// The requirements that a text names.
fn named(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for series in SERIES {
        for (at, _) in text.match_indices(series) {
            let rest = text[at + series.len()..].chars();
            let number: String = rest.take_while(char::is_ascii_digit).collect();
            if !number.is_empty() && !text[..at].ends_with(char::is_alphanumeric) {
                found.insert(format!("{series}{number}"));
            }
        }
    }
    found
}

/// The tests of the page of the rules, and the files that name the requirement.
fn tests_of_each() -> BTreeMap<String, BTreeSet<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let rows = rows();
    for (requirement, begins) in ROWS {
        let [.., tests, _] = rows.iter().find(|[rule, ..]| rule.starts_with(begins)).unwrap();
        let tests = tests.split(", ").map(|path| path.trim_matches('`').to_owned());
        all.entry(requirement.to_owned()).or_default().extend(tests);
    }
    let mut files = Vec::new();
    for folder in ["examples", "tests"] {
        rust_files(&root.join(folder), &mut files);
    }
    for file in files {
        let path = file.strip_prefix(root).unwrap().to_str().unwrap();
        if path == "tests/readme/specification.rs" {
            continue;
        }
        for requirement in named(&fs::read_to_string(&file).unwrap()) {
            let tests = all.entry(requirement).or_default();
            // A folder stands for all tests in it.
            if !tests.iter().any(|test| path.starts_with(test)) {
                tests.insert(path.to_owned());
            }
        }
    }
    all
}

#[test]
fn the_table_has_the_tests_of_each_requirement() {
    let section = PAGE.split("\n## Requirements\n").nth(1).unwrap();
    let mut table = BTreeMap::new();
    for row in section.lines().filter(|line| line.starts_with("| ")).skip(1) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let ["", requirements, _, tests, ""] = cells[..] else { panic!("three cells: {row}") };
        let tests: BTreeSet<&str> = tests.split(", ").map(|path| path.trim_matches('`')).collect();
        for requirement in requirements.split(", ") {
            assert!(
                table.insert(requirement, tests.clone()).is_none(),
                "{requirement} is there twice"
            );
        }
    }
    let all = tests_of_each();
    for (requirement, tests) in &all {
        let tests: BTreeSet<&str> = tests.iter().map(String::as_str).collect();
        let shown = table.remove(&**requirement);
        assert_eq!(shown, Some(tests), "the row of {requirement}");
    }
    assert!(table.is_empty(), "no test names {:?}", table.keys());
}
