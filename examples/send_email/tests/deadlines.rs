//! Questions and approvals that run out.

use std::{
    io::{BufRead, BufReader},
    time::Duration,
};

use machine::{
    actor::Human,
    clock::{Clock, Millis},
    store::OpenOptions,
    view::Label,
};

use crate::world::World;

/// Neither a question that is not needed any more, nor one without an answer in time, sends a mail.
#[test]
fn withdrawn_or_expired_and_never_sent() {
    let world = World::new();
    let (withdrawn, first) = world.ask();
    world.ok(&format!("cancel {withdrawn} --as tom"));
    let (expired, second) = world.ask_for("--to eve@example.com --expires 50ms");
    std::thread::sleep(Duration::from_millis(50));
    // It is too late before a worker has noticed, too.
    let told = world.fails(&format!("approve --yes {expired} --as ann"));
    assert!(told.contains(&format!("{expired} has expired")), "{told}");
    world.work();
    for gate in [withdrawn, expired] {
        let told = world.fails(&format!("approve --yes {gate} --as ann"));
        assert!(told.contains("it is CANCELLED"), "{told}");
    }
    for id in [withdrawn, first, expired, second] {
        assert_eq!(world.label(id), Label::Cancelled);
    }
    // The key is free: the mail can be asked for again.
    let (gate, _) = world.ask();
    world.ok(&format!("approve --yes {gate} --as ann"));
    world.work();
    assert_eq!(world.server.received(), 1);
}

/// A worker that keeps working fires the deadline by itself, and ends when it is asked to.
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
        assert!(printed.contains("nobody answered in time"), "{printed}");
        assert_eq!(world.label(id), Label::Cancelled);
    }
    let output = worker.stop();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(world.label(waits), Label::Deferred);
    world.verify();
}

/// A clock that stands still.
#[derive(Debug)]
struct Stopped(Millis);

impl Clock for Stopped {
    fn now(&self) -> Millis {
        self.0
    }
}

/// An approval that was not used in time sends nothing, and the mail ends.
#[test]
fn approved_and_used_too_late() {
    let world = World::new();
    let (gate, mail) = world.ask_for("--to bob@example.com --expires 1s");
    // In its last millisecond it is approved, by a process that is killed after that.
    let expires_at = world.list().iter().find_map(|line| line.due_at).unwrap();
    let in_time = OpenOptions::new().clock(Stopped(expires_at - 1));
    let (store, ann) = (world.store(), Human::new("ann").unwrap());
    let in_time = store.wait(in_time.sqlite(world.db())).unwrap();
    let question = store.wait(in_time.gate(gate)).unwrap();
    let shown = question.whole_question().unwrap().digest;
    store.wait(in_time.approve(question, shown, &ann)).unwrap();
    while machine::clock::now() <= expires_at {
        std::thread::sleep(Duration::from_millis(10));
    }
    let printed = world.work();
    assert!(printed.contains(&format!("the approval by {gate} has expired")), "{printed}");
    assert_eq!(world.label(mail), Label::Cancelled);
    assert!(!world.attention().contains("email.send"));
    assert_eq!(world.server.received(), 0);
}
