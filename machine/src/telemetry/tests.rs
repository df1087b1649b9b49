//! The page and the table say the same.

#![allow(clippy::unwrap_used)]

use std::{collections::BTreeSet, fmt::Write};

use super::{FIELDS, SIGNALS, Signal};

const PAGE: &str = include_str!("../docs/tracing.md");

/// `UPDATE_TABLES=1` writes the tables to the page.
#[test]
fn the_page_is_that_of_the_table() {
    let (text, _) = PAGE.split_once("# Spans\n").unwrap();
    let mut page = format!("{text}# Spans\n\n{}", table(|signal| signal.is_span));
    write!(page, "\n# Events\n\n{}", table(|signal| !signal.is_span)).unwrap();
    page.push_str("\n# Fields\n\nA field that does not apply has no value.\n\n");
    page.push_str("| name | meaning |\n|---|---|\n");
    for field in FIELDS {
        writeln!(page, "| `{}` | {} |", field.name, field.meaning).unwrap();
    }
    if std::env::var_os("UPDATE_TABLES").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/docs/tracing.md"), &page).unwrap();
    }
    assert!(page == PAGE, "set UPDATE_TABLES=1 to write the tables to the page");
}

fn table(which: impl Fn(&&Signal) -> bool) -> String {
    let mut table = "| name | level | target | when | fields |\n|---|---|---|---|---|\n".to_owned();
    for signal in SIGNALS.iter().filter(which) {
        let fields: Vec<_> = signal.fields.iter().map(|field| format!("`{field}`")).collect();
        let Signal { name, level, target, when, .. } = signal;
        let fields = fields.join(" ");
        writeln!(table, "| `{name}` | {level} | `{target}` | {when} | {fields} |").unwrap();
    }
    table
}

/// No name is there twice, and no field is unused.
#[test]
fn names_are_unique_and_used() {
    let names: BTreeSet<_> = SIGNALS.iter().map(|signal| signal.name).collect();
    assert_eq!(names.len(), SIGNALS.len());
    let known: BTreeSet<_> = FIELDS.iter().map(|field| field.name).collect();
    assert_eq!(known.len(), FIELDS.len());
    let used: BTreeSet<_> = SIGNALS.iter().flat_map(|signal| signal.fields).copied().collect();
    assert_eq!(used, known);
    assert!(SIGNALS.iter().all(|signal| signal.target.starts_with("machine::")));
}
