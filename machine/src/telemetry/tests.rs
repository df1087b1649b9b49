//! The page says the same as the code.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

const PAGE: &str = include_str!("../docs/tracing.md");

/// The rows of a table of the page.
fn rows(heading: &str) -> impl Iterator<Item = &'static str> {
    let (_, page) = PAGE.split_once(&format!("\n# {heading}\n")).unwrap();
    let table = page.split("\n# ").next().unwrap();
    table.lines().filter(|line| line.starts_with("| `"))
}

/// Each span and event has a row, in order, with its level, its target and when it happens. The
/// tests of the package compare the fields with those that are reported.
#[test]
fn each_signal_has_a_row() {
    for (kind, heading) in [("span ", "Spans"), ("event ", "Events")] {
        let (mut signals, mut when) = (Vec::new(), Vec::new());
        for line in include_str!("signals.rs").lines().map(str::trim) {
            if let Some(part) = line.strip_prefix("/// ") {
                when.push(part);
                continue;
            }
            let when = std::mem::take(&mut when).join(" ");
            if line.starts_with(kind) {
                let parts: Vec<&str> = line.split(['"', ',', '{']).map(str::trim).collect();
                let [_, name, _, target, level, ..] = parts[..] else { panic!("{line}") };
                let target = target.to_lowercase();
                signals.push(format!("| `{name}` | {level} | `machine::{target}` | {when}"));
            }
        }
        let rows: Vec<&str> = rows(heading).map(|row| row.rsplit_once(" | ").unwrap().0).collect();
        assert_eq!(signals, rows);
        assert_eq!(rows.iter().collect::<BTreeSet<_>>().len(), rows.len());
    }
}

#[test]
fn each_field_has_a_row() {
    let fields = include_str!("field.rs").lines().filter_map(|line| line.split('"').nth(1));
    let fields: Vec<&str> = fields.collect();
    let rows: Vec<&str> = rows("Fields").filter_map(|row| row.split('`').nth(1)).collect();
    assert_eq!(fields, rows);
    assert!(fields.is_sorted_by(|one, next| one < next), "{fields:?}");
}
