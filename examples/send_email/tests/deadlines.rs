//! Questions and approvals that run out.

use std::io::{BufRead, BufReader};

use machine::view::Label;

use crate::world::World;

/// A running worker fires the deadline, and ends on request.
#[test]
fn deadlines_fire_while_it_works() {
    let world = World::new();
    let mut worker = world.start("work");
    let mut lines = BufReader::new(worker.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.starts_with("sending what is approved")));
    let (gate, mail) = world.ask_for("--to eve@example.com --expires 300ms");
    let (_, waits) = world.ask();
    for id in [gate, mail] {
        let printed = lines.find(|line| line.contains("CANCELLED")).unwrap();
        assert!(printed.starts_with(&id.to_string()), "{printed}");
        assert!(printed.contains("not answered in time"), "{printed}");
        assert_eq!(world.label(id), Label::Cancelled);
    }
    let output = worker.stop();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(world.label(waits), Label::Deferred);
    world.verify();
}
