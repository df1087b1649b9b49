//! Two people approve the same mail at once.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, Stdio},
};

use machine::contract::AnyExecution;

use crate::world::World;

/// One wins, the other gets `Conflict`, and one mail is sent. Both processes load the question
/// before either answers it, so that they race every time.
#[test]
fn one_of_two_wins() {
    let world = World::new();
    let (gate, mail) = world.ask();
    let mut approvers: Vec<Child> = (0..2)
        .map(|_| {
            let mut command = world.command(&["approve", &gate.to_string()]);
            command.stdin(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    // The question is printed after the machine was loaded and checked.
    let mut outputs = Vec::new();
    for approver in &mut approvers {
        let mut output = BufReader::new(approver.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert!(line.contains("[y/N]"), "{line}");
        outputs.push(output);
    }
    for approver in &mut approvers {
        approver.stdin.take().unwrap().write_all(b"y\n").unwrap();
    }
    let ends: Vec<_> =
        approvers.into_iter().map(|approver| approver.wait_with_output().unwrap()).collect();
    drop(outputs);

    let (won, lost): (Vec<_>, Vec<_>) = ends.iter().partition(|end| end.status.success());
    assert_eq!((won.len(), lost.len()), (1, 1), "{ends:?}");
    let error = String::from_utf8_lossy(&lost[0].stderr);
    assert!(error.contains(&format!("{gate} was changed by another commit")), "{error}");
    assert_eq!(world.server.received(), 1);
    assert!(matches!(world.load(mail), AnyExecution::Completed(_)));
}
