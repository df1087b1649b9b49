//! The workflow that asks about each mail.

use machine::Id;

use crate::world::World;

/// The gates that wait, with their recipients.
fn questions(world: &World) -> Vec<(Id, String)> {
    let waiting = world.list().into_iter().filter(|line| line.status == "waiting");
    let summary = |id| world.load(id).context().summary().into_owned();
    waiting.map(|line| (line.id, summary(line.id))).collect()
}

fn invited(world: &World) -> Id {
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
    let invitation = invited(&world);
    let questions = questions(&world);
    assert_eq!(questions.len(), 2, "one batch has the invitation and its questions");
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
