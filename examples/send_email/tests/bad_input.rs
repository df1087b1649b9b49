//! Bad external input gives a typed error with a next step, and changes nothing.

use std::process::Command;

use crate::world::{World, errors};

#[test]
fn malformed_arguments() {
    let world = World::new();
    for (json, expected) in [
        (r#"{"to": "bob"#, "EOF while parsing"),
        ("[1, 2]", "invalid type: integer"),
        ("\"text\"", "invalid type: string"),
        (r#"{"to": "bob@example.com"}"#, "missing field `subject`"),
        (r#"{"to": 7, "subject": "s", "body": "b"}"#, "invalid type: integer"),
        (r#"{"to": "", "subject": "s", "body": "b"}"#, "Missing domain or user"),
        (r#"{"to": "b@e.com", "subject": "s", "body": "b", "bcc": "x"}"#, "unknown field `bcc`"),
    ] {
        let output = world.command("ask").args(["--json", json]).output().unwrap();
        let error = errors(&output);
        assert_eq!(output.status.code(), Some(1), "{json}: {error}");
        assert!(error.contains("this JSON is not a mail: "), "{json}: {error}");
        assert!(error.contains(expected), "{json}: {error}");
    }
    let error = world.misused("ask --json {} --to bob@example.com");
    assert!(error.contains("cannot be used with"), "{error}");
    assert!(world.list().is_empty());
}

#[test]
fn empty_and_huge_arguments() {
    let world = World::new();
    for arguments in ["ask", "ask --subject Hello"] {
        let error = world.misused(arguments);
        assert!(error.contains("--to <TO>"), "{error}");
    }
    let error = world.misused("ask --to bob");
    assert!(error.contains("'bob' for '--to <TO>'"), "{error}");

    // Linux limits one argument to 128 KiB, so only tests of the library can pass a megabyte; they
    // also test the program's own limit.
    world.ask_for(&format!("--to bob@example.com --body {}", "x".repeat(120 * 1024)));
    let oversized = Command::new(env!("CARGO_BIN_EXE_send_email"))
        .args(["ask", "--to", "bob@example.com", "--body", &"x".repeat(1024 * 1024), "--db"])
        .arg(world.db())
        .output();
    assert!(oversized.is_err(), "the system accepted an argument of 1 MiB, so test it here");
    assert_eq!(world.list().len(), 2);
}
