//! Tests wait for a minute, so that a slow computer fails none.

use std::{collections::BTreeSet, fs, path::Path};

use super::rust_files;

/// Calls that give up when a time is over.
const GIVE_UP: [&str; 9] = [
    "time::timeout(",
    " timeout(",
    "timeout_at(",
    "recv_timeout(",
    "_read_timeout(",
    "_write_timeout(",
    "wait_timeout(",
    "wait_timeout_while(",
    "connect_timeout(",
];

/// Lines that are right all the same: their file, their text, and the reason.
const ALLOWED: [(&str, &str, &str); 8] = [
    (
        "tests/effects/cut_off.rs",
        "let begun = tokio::time::timeout(moment, self.client(call)).await;",
        "the client never answers",
    ),
    (
        "tests/effects/cut_off.rs",
        "(Ending::Elapsed, _) => tokio::time::timeout(moment, self.client(call)).await?,",
        "the client never answers",
    ),
    (
        "tests/durability/created.rs",
        "while Instant::now() < until {",
        "the moment at which a process is killed",
    ),
    (
        "tests/worker/process/crew.rs",
        "if Instant::now() >= self.disturbed_at && newest != self.seen {",
        "the interval between two kills",
    ),
    (
        "examples/coding_agent/tests/terminal.rs",
        "assert!(start.elapsed() < DEMO);",
        "the requirement of the demo, which takes a second",
    ),
    (
        "examples/workflow_engine/tests/crash.rs",
        "_ => start.elapsed() >= time,",
        "the moment at which an engine is killed",
    ),
    (
        "examples/workflow_engine/stage.rs",
        r#"ensure!(start.elapsed() < PATIENCE, "this has not happened: {what}");"#,
        "a minute",
    ),
    (
        "machine/src/testing/environment.rs",
        "let run = tokio::time::timeout(NEVER_IDLE, worker.run_until_idle()).await;",
        "a day of virtual time",
    ),
];

/// A line that compares a time which has passed, or gives up after a time, without the name
/// [`STUCK`](machine_tests::STUCK). A slow computer breaks no lower bound, and what a test waits
/// for in vain may be short.
fn is_short(line: &str) -> bool {
    let has = |texts: &[&str]| texts.iter().any(|text| line.contains(text));
    if line.starts_with("//") || line.contains("STUCK") {
        return false;
    }
    let compares = has(&["elapsed()", "Instant::now()"]) && has(&[" < ", " <= ", " > ", " >= "]);
    let is_lower_bound = line.starts_with("assert!(") && line.contains("elapsed() >");
    let is_in_vain = has(&[".is_ok()", ".is_err()", "unwrap_err()"]);
    compares && !is_lower_bound || has(&GIVE_UP) && !is_in_vain
}

#[test]
fn no_test_has_a_short_limit() {
    let mut found = Vec::new();
    for folder in ["../tests", "../examples", "../machine"] {
        rust_files(Path::new(folder), &mut found);
    }
    // Those of tests, and those of the examples, whose stories run as tests.
    found.retain(|path| {
        let text = path.to_str().unwrap();
        (text.contains("/test") || text.contains("/examples/"))
            && !text.ends_with("readme/limits.rs")
    });
    assert!(found.len() > 300, "{} files", found.len());
    let (mut short, mut allowed) = (Vec::new(), BTreeSet::new());
    for path in found {
        for (number, line) in (1..).zip(fs::read_to_string(&path).unwrap().lines()) {
            let line = line.trim();
            if !is_short(line) {
                continue;
            }
            let mut known = ALLOWED.iter();
            match known.position(|(file, text, _)| path.ends_with(file) && line == *text) {
                Some(at) => {
                    allowed.insert(at);
                }
                None => short.push(format!("{}:{number}: {line}", path.display())),
            }
        }
    }
    assert!(short.is_empty(), "use STUCK for these:\n{}", short.join("\n"));
    assert_eq!(allowed.len(), ALLOWED.len(), "some are no longer needed: only {allowed:?} are");
}

#[test]
fn short_limits_are_seen() {
    for short in [
        "assert!(start.elapsed() < LIMIT);",
        "assert!(LIMIT > start.elapsed());",
        "if start.elapsed() > LIMIT {",
        "while Instant::now() < until {",
        "let next = tokio::time::timeout(Duration::from_secs(20), next).await;",
        "let next = timeout(LIMIT, next).await.unwrap();",
        "heard.recv_timeout(Duration::from_secs(5)).unwrap();",
    ] {
        assert!(is_short(short), "{short}");
    }
    for long in [
        "assert!(start.elapsed() < 3 * STUCK);",
        "assert!(start.elapsed() >= Duration::from_millis(20));",
        "tokio::time::timeout(STUCK, next).await.unwrap();",
        "while heard.recv_timeout(Duration::from_millis(100)).is_ok() {}",
        "timeout(Duration::from_millis(100), next).await.unwrap_err();",
    ] {
        assert!(!is_short(long), "{long}");
    }
}
