//! The page of the rules names each of them once, with a module and tests that are there.

use std::path::Path;

const PAGE: &str = include_str!("../../machine/src/docs/specification.md");

/// The requirement, and how the row of the page begins.
pub(super) const ROWS: [(&str, &str); 42] = [
    ("EX-1", "An execution is PENDING at first"),
    ("EX-2", "Nine moves are legal"),
    ("EX-2", "WAITING is left by"),
    ("EX-3", "A contract has an id"),
    ("EX-4", "Tool node, human interaction node"),
    ("EX-5", "The key of an action is made from"),
    ("EX-5", "An irreversible action whose key has been applied"),
    ("EX-5", "Two executions never run under"),
    ("EX-6", "Three guards"),
    ("EX-7", "What is resumed must exist"),
    ("EX-7", "An optional limit on the age"),
    ("EX-8", "An execution waits for a person's answer"),
    ("EX-8", "An irreversible action waits for an approval"),
    ("EX-8", "An execution waits for the callback"),
    ("EX-9", "A deferred action never runs"),
    ("EX-10", "What happens wakes who waits"),
    ("EX-11", "Each creation and transition is in the trace"),
    ("EX-12", "People see results"),
    ("EX-13", "Keys, internal actors, prompts"),
    ("EX-14", "The worked example"),
    ("EX-15", "The registration of a tool"),
    ("OB-1", "A snapshot of an execution"),
    ("OB-2", "A record of each transition"),
    ("OB-3", "The category of an actor"),
    ("OB-4", "The timeline of a session"),
    ("OB-5", "The topology of a machine"),
    ("OB-6", "A consequence for reasoners"),
    ("OB-7", "Labels of consequences"),
    ("OB-8", "The lines of a prompt"),
    ("OB-9", "One observer"),
    ("OB-10", "The position in a program's graph"),
    ("OB-11", "Timeline, snapshot and topology over HTTP"),
    ("OB-12", "An event for each transition"),
    ("OB-13", "One fact for each execution"),
    ("OB-14", "People see summaries"),
    ("OB-15", "`ecs/respond` stores"),
    ("WF-1", "Eight states"),
    ("WF-1", "The finished task's record"),
    ("WF-2", "Five conditions"),
    ("WF-3", "A pause counts at once"),
    ("WF-3", "A person sees the reason"),
    ("WF-3", "A person resumes, modifies"),
];

/// The rows of the page: rule, module, tests, difference.
pub(super) fn rows() -> Vec<[&'static str; 4]> {
    let rows = PAGE.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| rule"));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        cells.try_into().unwrap_or_else(|_| panic!("a row has four cells: {row}"))
    })
    .collect()
}

#[test]
fn each_rule_has_its_row() {
    let rows = rows();
    for (requirement, begins) in ROWS {
        let found = rows.iter().filter(|[rule, ..]| rule.starts_with(begins)).count();
        assert_eq!(found, 1, "{requirement}: `{begins}`");
    }
    assert_eq!(rows.len(), ROWS.len(), "a row that no requirement stands for");
}

#[test]
fn each_row_names_what_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for [rule, module, tests, _] in rows() {
        let paths: Vec<&str> = [module, tests].iter().flat_map(|it| it.split(", ")).collect();
        assert!(paths.len() >= 2, "{rule}");
        for path in paths {
            let path = path.strip_prefix('`').and_then(|path| path.strip_suffix('`'));
            let path = path.unwrap_or_else(|| panic!("{rule}: a path stands in backticks"));
            assert!(root.join(path).exists(), "{rule}: there is no {path}");
            let is_test = tests.contains(path);
            let file = root.join(path);
            if is_test && file.is_file() {
                let text = std::fs::read_to_string(&file).unwrap();
                let has_tests =
                    ["#[test]", "#[tokio::test", "both_backends", "fn main", "async fn"];
                assert!(has_tests.iter().any(|it| text.contains(it)), "{rule}: {path} has no test");
            }
        }
    }
}

/// Every path that a page of the documentation names is there.
#[test]
fn pages_name_paths_that_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let pages = ["README.md", "CONTRIBUTING.md", "examples/README.md"];
    let mut pages = pages.map(|page| root.join(page)).to_vec();
    for folder in ["machine/src/docs", "machine/console/src/docs"] {
        let entries = std::fs::read_dir(root.join(folder)).unwrap();
        let files = entries.map(|entry| entry.unwrap().path());
        pages.extend(files.filter(|path| path.extension().is_some_and(|it| it == "md")));
    }
    let tops = ["machine/", "machine-derive/", "tests/", "ui-tests/", "examples/"];
    let mut count = 0;
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        // Between backticks, outside of blocks of code.
        let prose = text.split("```").step_by(2);
        for path in prose.flat_map(|text| text.split('`').skip(1).step_by(2)) {
            if tops.iter().any(|top| path.starts_with(top)) && !path.contains(char::is_whitespace) {
                assert!(root.join(path).exists(), "{}: there is no {path}", page.display());
                count += 1;
            }
        }
    }
    assert!(count > 100, "only {count} paths");
}
