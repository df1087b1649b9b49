//! Tests wait for a minute, so that a slow computer fails none.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The sources of tests below this folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_source = path.extension().is_some_and(|it| it == "rs");
        if path.is_dir() {
            sources(&path, found);
        } else if is_source && path.to_str().unwrap().contains("/test") {
            found.push(path);
        }
    }
}

/// The numbers of the lines with a limit that is no [`STUCK`](machine_tests::STUCK).
fn short_limits(source: &str) -> Vec<usize> {
    let lines: Vec<&str> = source.lines().collect();
    // `elapsed()`, and the names in this function whose values come from it.
    let mut times = vec!["elapsed()"];
    let mut short = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let text = line.trim();
        if text.starts_with("fn ") || text.contains(" fn ") {
            times.truncate(1);
        }
        let compares = times.iter().any(|time| compares(text, time)) && !text.contains("STUCK");
        if compares || waits(text) {
            short.push(index + 1);
        }
        let found = match text.strip_prefix("let ") {
            Some(bound) => names(bound, &times),
            None if times.iter().any(|time| ends_with(text, time)) => block_of(&lines[..=index]),
            None => Vec::new(),
        };
        times.extend(found);
    }
    short
}

/// Waits for a time in numbers. What a test waits for in vain may be short.
fn waits(line: &str) -> bool {
    let waits = ["time::timeout(", "recv_timeout(", "_read_timeout(", "wait_timeout_while("];
    let waits = waits.iter().any(|it| line.contains(it)) && line.contains("Duration::from_");
    waits && ![".is_ok()", ".is_err()"].iter().any(|it| line.contains(it))
}

/// Compares a time with something. A slow computer breaks no lower bound that is asserted.
fn compares(line: &str, time: &str) -> bool {
    uses(line, time).any(|(before, after)| {
        let after = match after.strip_prefix(".as_") {
            Some(unit) => unit.split_once(')').map_or(after, |(_, after)| after),
            None => after,
        };
        let is_upper = [" < ", " <= "].iter().any(|it| after.starts_with(it));
        let is_lower = after.starts_with(" > ");
        is_upper || is_lower && !line.starts_with("assert!(") || before.ends_with(" > ")
    })
}

/// The text before and after each use of a name.
fn uses<'a>(line: &'a str, name: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let is_part = |one: char| one.is_alphanumeric() || one == '_';
    line.match_indices(name).filter_map(move |(at, _)| {
        let (before, after) = (&line[..at], &line[at + name.len()..]);
        (!before.ends_with(is_part) && !after.starts_with(is_part)).then_some((before, after))
    })
}

fn ends_with(line: &str, name: &str) -> bool {
    uses(line, name).any(|(_, after)| after.is_empty())
}

/// The names that `let` gives to times: one, or those at their places in a tuple.
fn names<'a>(bound: &'a str, times: &[&str]) -> Vec<&'a str> {
    // A share of a time is compared with no limit.
    let is_time = |value: &str| {
        !value.contains(" / ") && times.iter().any(|time| uses(value, time).next().is_some())
    };
    let Some((pattern, value)) = bound.split_once(" = ") else { return Vec::new() };
    let values = value.trim_start_matches('(').split(", ");
    match pattern.strip_prefix('(') {
        Some(tuple) => {
            let names = tuple.trim_end_matches(')').split(", ").zip(values);
            names.filter(|(_, value)| is_time(value)).map(|(name, _)| name).collect()
        }
        None if is_time(value) => pattern.trim_start_matches("mut ").split(':').take(1).collect(),
        None => Vec::new(),
    }
}

/// The name of the block whose value is the last of these lines.
fn block_of<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let Some((last, before)) = lines.split_last() else { return Vec::new() };
    let outer = before.iter().rev().find(|line| !line.is_empty() && indent(line) < indent(last));
    let bound = outer.and_then(|line| line.trim_start().strip_prefix("let ")?.split_once(" = "));
    bound.map(|(name, _)| name).into_iter().collect()
}

#[test]
fn no_test_has_a_short_limit() {
    let mut found = Vec::new();
    for folder in ["../tests", "../examples", "../machine/src"] {
        sources(Path::new(folder), &mut found);
    }
    assert!(found.len() > 300, "{} files", found.len());
    let mut short = Vec::new();
    for path in found.iter().filter(|path| !path.ends_with("readme/limits.rs")) {
        let source = fs::read_to_string(path).unwrap();
        for number in short_limits(&source) {
            let line = source.lines().nth(number - 1).unwrap();
            short.push(format!("{}:{number}: {}", path.display(), line.trim()));
        }
    }
    assert!(short.is_empty(), "use STUCK for these:\n{}", short.join("\n"));
}

#[test]
fn short_limits_are_seen() {
    for short in [
        "assert!(start.elapsed() < LIMIT);",
        "assert!(start.elapsed().as_secs() < 10);",
        "if start.elapsed() > LIMIT {",
        "let took = start.elapsed();\nassert!(took < LIMIT);",
        "let took = start.elapsed();\nassert!(took.as_millis() <= 10);",
        "let took = start.elapsed();\nassert!(LIMIT > took);",
        "let (count, took) = (2, start.elapsed());\nassert!(took < LIMIT);",
        "let slow = move || {\n    work();\n    start.elapsed()\n};\nlet slow = spawn(slow);\n\
         let after = slow.join().unwrap();\nassert!(after < LIMIT);",
        "let next = tokio::time::timeout(Duration::from_secs(20), next).await;",
        "heard.recv_timeout(Duration::from_secs(5)).unwrap();",
    ] {
        let last = short.lines().count();
        assert_eq!(short_limits(short), [last], "{short}");
    }
    for long in [
        "assert!(start.elapsed() < 3 * STUCK);",
        "let took = start.elapsed();\nassert!(took < STUCK);",
        "let took = start.elapsed();\nassert!(took > LIMIT);",
        "let (took, count) = (start.elapsed(), 2);\nassert!(count < 3);",
        "let took = start.elapsed();\nfn eats(took: usize) {\nassert!(took < 3);",
        "tokio::time::timeout(STUCK, next)",
        "while heard.recv_timeout(Duration::from_millis(100)).is_ok() {}",
    ] {
        assert_eq!(short_limits(long), [0; 0], "{long}");
    }
}
