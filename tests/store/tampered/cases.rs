//! The edits, and what notices them: see `cases.txt`.

use std::collections::BTreeMap;

use super::{
    sample::{ALL, Who},
    seen::{OPERATIONS, Seen},
};

/// An edit of the sample.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) subject: Who,
    sql: String,
    /// The operations that notice the edit.
    pub(super) plain: Expected,
    /// The operations that notice it if all digests were recomputed; `None` if that is impossible.
    pub(super) forged: Option<Expected>,
}

/// For each operation that notices something, a part of what it says.
#[derive(Debug)]
pub(super) struct Expected(BTreeMap<&'static str, &'static str>);

/// All edits.
pub(super) fn cases() -> Vec<Case> {
    let (_, cases) = include_str!("cases.txt").split_once("# instance").unwrap();
    cases.split("\n== ").skip(1).map(parsed).collect()
}

fn parsed(text: &'static str) -> Case {
    let mut lines = text.lines();
    let (name, subject) =
        lines.next().unwrap().strip_suffix(')').unwrap().split_once(" (").unwrap();
    let is_subject = |who: &Who| who.name() == subject;
    let subject = ALL.into_iter().find(is_subject).unwrap_or_else(|| panic!("{name}: {subject}"));
    let mut sql = String::new();
    let (mut plain, mut forged) = (None, None);
    for line in lines {
        if let Some(says) = line.strip_prefix("plain:  ") {
            plain = Some(expected(says));
        } else if let Some(says) = line.strip_prefix("forged: ") {
            forged = Some((says != "-").then(|| expected(says)));
        } else if line.starts_with("    ") {
            sql.push_str(line);
        }
    }
    Case { name, subject, sql, plain: plain.expect(name), forged: forged.expect(name) }
}

fn expected(says: &'static str) -> Expected {
    let mut expected = BTreeMap::new();
    if !matches!(says, "harmless" | "unnoticed" | "only with a key") {
        for group in says.split("; ") {
            let (operations, part) = group.split_once(": ").unwrap_or_else(|| panic!("{says}"));
            for operation in operations.split(", ") {
                assert!(OPERATIONS.contains(&operation), "{says}");
                assert!(expected.insert(operation, part).is_none(), "{says}");
            }
        }
    }
    Expected(expected)
}

impl Expected {
    pub(super) fn is(&self, seen: &Seen) -> bool {
        let same = |((operation, part), (seen, says)): ((_, &&str), (_, &String))| {
            operation == seen && says.contains(*part)
        };
        self.0.len() == seen.len() && self.0.iter().zip(seen).all(same)
    }
}

impl Case {
    /// Edits a copy of the sample.
    pub(super) fn edit(&self, raw: &rusqlite::Connection) {
        let mut sql = self.sql.clone();
        for who in ALL {
            sql = sql.replace(&format!("{{{}}}", who.name()), &who.number().to_string());
        }
        let before = raw.total_changes();
        raw.execute_batch(&sql).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        assert!(raw.total_changes() > before, "{} changes nothing", self.name);
    }
}
