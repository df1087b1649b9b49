//! Bad external input gives a typed error with a next step, and changes nothing.

use std::process::Command;

use machine::contract::AnyExecution;

use crate::world::{World, errors};

#[test]
fn malformed_detail() {
    let world = World::new();
    for (detail, expected) in [
        (r#"{"to": "bob"#, "not valid JSON"),
        ("[1, 2]", "an array, not an object"),
        ("\"text\"", "a string, not an object"),
        (r#"{"to": "bob@example.com"}"#, "missing field `subject`"),
        (r#"{"to": 7, "subject": "s", "body": "b"}"#, "expected a string"),
        (r#"{"to": "", "subject": "s", "body": "b"}"#, "not a mail address"),
        (r#"{"to": "b@e.com", "subject": "s", "body": "b", "bcc": "x"}"#, "unknown field `bcc`"),
    ] {
        let error = world.fails(&["ask", "--detail", detail]);
        assert!(error.contains(expected), "{detail}: {error}");
    }
    assert!(world.list().is_empty());
}

#[test]
fn empty_and_huge_arguments() {
    let world = World::new();
    let error = world.fails(&["ask", "--to", ""]);
    assert!(error.contains("pass one such as bob@example.com"), "{error}");
    let error = world.fails(&["ask", "--to", "bob@example.com", "--subject", ""]);
    assert!(error.contains("the subject is empty"), "{error}");

    // Linux limits one argument to 128 KiB, so only tests of the library can pass a megabyte; they
    // also test the program's own limit.
    let large = "x".repeat(120 * 1024);
    world.ok(&["ask", "--to", "bob@example.com", "--body", &large]);
    let oversized = Command::new(env!("CARGO_BIN_EXE_send_email"))
        .args(["ask", "--to", "bob@example.com", "--body", &"x".repeat(1024 * 1024), "--db"])
        .arg(world.db())
        .output();
    assert!(oversized.is_err(), "the system accepted an argument of 1 MiB, so test it here");
    assert_eq!(world.list().len(), 2);
}

#[test]
fn malformed_unknown_and_wrong_ids() {
    let world = World::new();
    let (gate, mail) = world.ask();
    let output = world.run(&["approve", "--yes", "exec-002"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("ids look like"), "{}", errors(&output));

    let unknown = "01890a5d-ac96-774b-bcce-b302099a8057";
    let error = world.fails(&["approve", "--yes", unknown]);
    assert!(error.contains("there is no machine"), "{error}");
    let error = world.fails(&["approve", "--yes", &mail.to_string()]);
    assert!(error.contains("PENDING, not WAITING"), "{error}");
    let error = world.fails(&["retry", &gate.to_string()]);
    assert!(error.contains("only a FAILED mail can be retried"), "{error}");
    let error = world.fails(&["settle", &gate.to_string(), "sent"]);
    assert!(error.contains("not in doubt"), "{error}");
    assert!(matches!(world.load(gate), AnyExecution::Waiting(_)));
    assert!(matches!(world.load(mail), AnyExecution::Pending(_)));
    assert_eq!(world.server.received(), 0);
}

#[test]
fn a_second_answer() {
    let world = World::new();
    let (gate, _) = world.ask();
    world.ok(&["approve", "--yes", &gate.to_string()]);
    for arguments in [["approve", "--yes"], ["reject", "--reason=late"]] {
        let error = world.fails(&[arguments[0], arguments[1], &gate.to_string()]);
        assert!(error.contains("COMPLETED, not WAITING; COMPLETED is terminal"), "{error}");
    }
    let error = world.fails(&["approve", "--yes"]);
    assert!(error.contains("no question waits for an answer"), "{error}");
    assert_eq!(world.server.received(), 1);
}

#[test]
fn which_of_several() {
    let world = World::new();
    world.ask();
    world.ok(&["ask", "--to", "carol@example.com"]);
    let error = world.fails(&["approve", "--yes"]);
    assert!(error.contains("several questions wait"), "{error}");
}

#[test]
fn a_file_that_is_not_a_database() {
    let world = World::new();
    std::fs::write(world.db(), "This is a letter, not a database, and it stays one.\n".repeat(40))
        .unwrap();
    let before = std::fs::read(world.db()).unwrap();
    let error = world.fails(&["status"]);
    assert!(error.contains("is not a database"), "{error}");
    assert_eq!(std::fs::read(world.db()).unwrap(), before);
}
