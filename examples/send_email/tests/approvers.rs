//! Several people answer the same question.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, Stdio},
};

use machine::{contract::AnyExecution, view::Label};

use crate::world::{World, errors};

/// One wins, the other learns who did and when, and one mail is sent. Both processes have shown the
/// question before either answers it, so that they race every time.
#[test]
fn one_of_two_wins() {
    let world = World::new();
    let (gate, mail) = world.ask();
    let mut approvers: Vec<Child> = ["ann", "tom"]
        .into_iter()
        .map(|name| {
            let mut command = world.command(&format!("approve {gate} --as {name}"));
            command.stdin(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let mut outputs = Vec::new();
    for approver in &mut approvers {
        let mut output = BufReader::new(approver.stdout.take().unwrap());
        let mut question = String::new();
        while !question.contains("[y/N]") {
            assert_ne!(output.read_line(&mut question).unwrap(), 0, "{question}");
        }
        assert!(question.contains("to: \"bob@example.com\""), "{question}");
        outputs.push(output);
    }
    for approver in &mut approvers {
        approver.stdin.take().unwrap().write_all(b"y\n").unwrap();
    }
    let ends: Vec<_> =
        approvers.into_iter().map(|approver| approver.wait_with_output().unwrap()).collect();
    drop(outputs);

    let winner = match (ends[0].status.success(), ends[1].status.success()) {
        (true, false) => "ann",
        (false, true) => "tom",
        _ => panic!("{ends:?}"),
    };
    let loser = ends.iter().find(|end| !end.status.success()).unwrap();
    let told = errors(loser);
    assert!(told.contains("error: answered at "), "{told}");
    assert!(told.contains(&format!("{gate} was approved by {winner}")), "{told}");
    world.work();
    assert_eq!(world.server.received(), 1);
    assert!(matches!(world.load(mail), AnyExecution::Completed(_)));
}

/// The same command again finds an answer, and approves nothing else.
#[test]
fn typed_twice() {
    let world = World::new();
    let (gate, _) = world.ask();
    let (other, waiting) = world.ask_for("--to carol@example.com");
    world.ok(&format!("approve --yes {gate} --as ann"));
    let typed_again = [
        format!("approve --yes {gate} --as ann"),
        format!("approve {gate} --as tom"),
        format!("decline {gate} --as tom"),
        format!("withdraw {gate}"),
    ];
    for command in typed_again {
        let told = world.fails(&command);
        assert!(told.contains("error: answered at "), "{command}: {told}");
        assert!(told.contains("was approved by ann; it needs no further answer"), "{told}");
    }
    world.work();
    assert_eq!(world.label(other), Label::Waiting);
    assert_eq!(world.label(waiting), Label::NotStarted);
    assert_eq!(world.server.received(), 1);
}

/// An answer needs the name of the person and the id of the question.
#[test]
fn ids_and_names_are_required() {
    let world = World::new();
    let (gate, mail) = world.ask();
    for command in ["approve --yes --as ann", "decline --as ann", "retry --as ann", "withdraw"] {
        let told = world.misused(command);
        assert!(told.contains("<ID>"), "{command}: {told}");
    }
    for command in ["approve --yes", "decline", "retry", "settle sent"] {
        let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
        let told = world.misused(&format!("{verb} {gate} {rest}"));
        assert!(told.contains("--as <NAME>"), "{command}: {told}");
    }
    for name in ["", " ", "ann\u{202e}", "ann\nby bob", &"a".repeat(201)] {
        let mut command = world.command(&format!("approve --yes {gate}"));
        let output = command.args(["--as", name]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{name:?}: {}", errors(&output));
    }
    assert_eq!(world.label(gate), Label::Waiting);
    assert_eq!(world.label(mail), Label::NotStarted);
    assert_eq!(world.server.received(), 0);
}
