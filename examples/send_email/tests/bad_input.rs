//! Bad external input gives a typed error with a next step, and changes nothing.

use std::process::Command;

use machine::view::Label;

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

/// Misleading text is shown for what it is, in the question.
#[test]
fn the_question_hides_nothing() {
    let world = World::new();
    let json =
        r#"{"to": "bob@example.com", "subject": "\u0430pple\u202e", "body": "a\n[action 1]"}"#;
    let output = world.command("ask").args(["--json", json]).output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    let question = String::from_utf8(output.stdout).unwrap();
    assert!(question.contains(r#"subject: "\u{430}pple\u{202e}""#), "{question}");
    assert!(question.contains(r#"body: "a\n[action 1]""#), "{question}");
}

#[test]
fn malformed_unknown_and_wrong_ids() {
    let world = World::new();
    let (gate, mail) = world.ask();
    for unknown in ["01890a5d-ac96-774b-bcce-b302099a8057", "exec-002", "../agent.db"] {
        let commands = ["approve --as a --yes", "decline --as a --yes", "retry --as a --yes"];
        let others =
            ["cancel --as a", "fence --as a", "requeue --as a", "confirm applied --as a --yes"];
        for command in commands.iter().chain(&others) {
            let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
            let output = world.run(&format!("{verb} {unknown} {rest}"));
            assert_eq!(output.status.code(), Some(4), "{command}: {}", errors(&output));
        }
    }
    for (command, expected) in [
        (format!("approve --yes {mail} --as ann"), "is not a gate that waits for an answer"),
        (format!("retry {gate} --as ann --yes"), "is WAITING, not FAILED"),
        (format!("retry {mail} --as ann --yes"), "is DEFERRED, not FAILED"),
        (format!("fence {mail} --as a"), "is not an irreversible call in flight"),
        (format!("confirm {gate} applied --as ann --yes"), "not in doubt"),
        (format!("confirm {mail} not-applied --as ann --override --yes"), "not in doubt"),
    ] {
        let error = world.fails(&command);
        assert!(error.contains(expected), "{command}: {error}");
    }
    world.work();
    assert_eq!(world.label(gate), Label::Waiting);
    assert_eq!(world.label(mail), Label::Deferred);
    assert_eq!(world.server.received(), 0);
}

#[test]
fn a_file_that_is_not_a_database() {
    let world = World::new();
    std::fs::write(world.db(), "This is a letter, not a database, and it stays one.\n".repeat(40))
        .unwrap();
    let before = std::fs::read(world.db()).unwrap();
    for (command, code) in [("list", 5), ("work --once", 1)] {
        let output = world.run(command);
        let error = errors(&output);
        assert_eq!(output.status.code(), Some(code), "{command}: {error}");
        assert!(error.contains("is not a database"), "{error}");
    }
    assert_eq!(std::fs::read(world.db()).unwrap(), before);
}
