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

/// A limit in a line that is no [`STUCK`](machine_tests::STUCK). What a test waits for in vain may be short.
fn is_short(line: &str) -> bool {
    let compares = ["elapsed() < ", "elapsed() > "].iter().any(|it| line.contains(it));
    let waits = ["time::timeout(", "recv_timeout(", "_read_timeout(", "wait_timeout_while("];
    let waits = waits.iter().any(|it| line.contains(it)) && line.contains("Duration::from_");
    let in_vain = [".is_ok()", ".is_err()"].iter().any(|it| line.contains(it));
    (compares && !line.contains("STUCK")) || (waits && !in_vain)
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
        for (index, line) in fs::read_to_string(path).unwrap().lines().enumerate() {
            if is_short(line) {
                short.push(format!("{}:{}: {}", path.display(), index + 1, line.trim()));
            }
        }
    }
    assert!(short.is_empty(), "use STUCK for these:\n{}", short.join("\n"));
}

#[test]
fn short_limits_are_seen() {
    for short in [
        "assert!(start.elapsed() < LIMIT);",
        "let next = tokio::time::timeout(Duration::from_secs(20), next).await;",
        "heard.recv_timeout(Duration::from_secs(5)).unwrap();",
    ] {
        assert!(is_short(short), "{short}");
    }
    for long in [
        "assert!(start.elapsed() < 3 * STUCK);",
        "tokio::time::timeout(STUCK, next)",
        "while heard.recv_timeout(Duration::from_millis(100)).is_ok() {}",
    ] {
        assert!(!is_short(long), "{long}");
    }
}
