//! The workflow that asks about each mail.

use std::time::Duration;

use machine::{Id, view::Label};

use crate::world::World;

/// The gates that wait, with their recipients.
fn questions(world: &World) -> Vec<(Id, String)> {
    let waiting = world.list().into_iter().filter(|line| line.status == "waiting");
    let summary = |id| world.load(id).context().summary().into_owned();
    waiting.map(|line| (line.id, summary(line.id))).collect()
}

fn planned(world: &World) -> Id {
    let printed = world.ok("invite --guest bob@example.com --guest carol@example.com");
    printed.split_whitespace().next().unwrap().parse().unwrap()
}

fn has_ended_as(world: &World, invitation: Id, sent: &str) {
    let shown = world.show(invitation);
    assert!(shown.contains("CLOSED") && shown.contains(sent), "{shown}");
}

/// One guest is invited, one is not.
#[test]
fn approved_and_declined() {
    let world = World::new();
    let invitation = planned(&world);
    assert!(questions(&world).is_empty(), "the worker asks");
    world.work();
    let questions = questions(&world);
    assert_eq!(questions.len(), 2);
    for (gate, summary) in questions {
        let answer = if summary.contains("bob") { "approve" } else { "decline" };
        let reason = if summary.contains("bob") { "" } else { "--reason no" };
        world.ok(&format!("{answer} --yes {gate} --as ann {reason}"));
    }
    world.work();
    assert_eq!(world.server.received(), 1);
    has_ended_as(&world, invitation, "not_sent: 1");
    world.verify();
}

/// Killed at any moment, the workers ask about each guest once.
#[test]
fn killed_while_it_asks() {
    for round in 0..6 {
        let world = World::new();
        planned(&world);
        let mut worker = world.start("work");
        std::thread::sleep(Duration::from_millis(15 * round));
        worker.kill().unwrap();
        worker.wait().unwrap();
        world.work();
        assert_eq!(questions(&world).len(), 2, "round {round}");
        for line in world.list().into_iter().filter(|line| line.status == "pending") {
            assert_eq!(world.label(line.id), Label::Deferred);
        }
    }
}
