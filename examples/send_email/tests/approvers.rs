//! Several people answer the same question.

use machine::{contract::AnyExecution, view::Label};

use crate::{
    process::Process,
    world::{World, errors},
};

/// One wins, the other learns who did and when, and one mail is sent.
#[test]
fn one_of_two_wins() {
    for _ in 0..5 {
        let world = World::new();
        let (gate, mail) = world.ask();
        let approvers: Vec<Process> = ["ann", "tom"]
            .into_iter()
            .map(|name| world.start(&format!("approve {gate} --as {name} --yes")))
            .collect();
        let ends: Vec<_> = approvers.into_iter().map(Process::ended).collect();
        let winner = match (ends[0].status.success(), ends[1].status.success()) {
            (true, false) => "ann",
            (false, true) => "tom",
            _ => panic!("{ends:?}"),
        };
        let loser = ends.iter().find(|end| !end.status.success()).unwrap();
        let told = errors(loser);
        // The second one learns it when it looks, or when it writes.
        assert!(told.contains(&format!("approved by {winner}")), "{told}");
        world.work();
        assert_eq!(world.server.received(), 1);
        assert!(matches!(world.load(mail), AnyExecution::Completed(_)));
    }
}

/// The command, given again, finds an answer, and approves nothing else.
#[test]
fn typed_twice() {
    let world = World::new();
    let (gate, _) = world.ask();
    let (other, waiting) = world.ask_for("--to carol@example.com");
    world.ok(&format!("approve --yes {gate} --as ann"));
    let typed_again = [
        format!("approve --yes {gate} --as ann"),
        format!("approve {gate} --as tom --yes"),
        format!("decline {gate} --yes --as tom"),
    ];
    for command in typed_again {
        let told = world.fails(&command);
        assert!(told.contains("that was at "), "{command}: {told}");
        assert!(told.contains("was approved by ann; it needs no further answer"), "{told}");
    }
    let told = world.fails(&format!("cancel {gate} --as tom"));
    assert!(told.contains("is COMPLETED, so there is nothing to cancel"), "{told}");
    world.work();
    assert_eq!(world.label(other), Label::Waiting);
    assert_eq!(world.label(waiting), Label::Deferred);
    assert_eq!(world.server.received(), 1);
}

/// An answer needs the name of the person and the id of the question.
#[test]
fn ids_and_names_are_required() {
    let world = World::new();
    let (gate, mail) = world.ask();
    for command in ["approve --yes --as ann", "decline --as ann", "retry --as ann", "cancel"] {
        let told = world.misused(command);
        assert!(told.contains("<ID>"), "{command}: {told}");
    }
    for command in ["approve --yes", "decline", "retry", "confirm applied"] {
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
    assert_eq!(world.label(mail), Label::Deferred);
    assert_eq!(world.server.received(), 0);
}
