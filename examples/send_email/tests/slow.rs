//! The mail server holds its answer back: the worker waits for it, and sends nothing twice.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use machine::{Id, store::Query, view::Label};
use mailin::response;

use crate::{
    server::Step,
    testing::{Process, STUCK},
    world::World,
};

/// Waits until this holds.
fn until(holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < STUCK, "it does not come to that");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A worker with an approved mail, whose server holds this answer back until it is released.
fn held_at(held: fn(&Step<'_>) -> bool) -> (World, Arc<AtomicBool>, Process, Id) {
    let (is_held, go_on): (Arc<AtomicBool>, Arc<AtomicBool>) = Default::default();
    let (holds, may_go_on) = (Arc::clone(&is_held), Arc::clone(&go_on));
    let world = World::with(move |step| {
        while held(&step) && !may_go_on.load(Ordering::SeqCst) {
            holds.store(true, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(5));
        }
        response::OK
    });
    let mail = world.approved();
    let worker = world.start("work --lease 10s");
    until(|| is_held.load(Ordering::SeqCst));
    (world, go_on, worker, mail)
}

/// A worker that is asked to stop waits for the receipt of its mail, and says so.
#[test]
fn it_is_stopped_in_its_call() {
    let (world, go_on, mut worker, mail) = held_at(|step| matches!(step, Step::Stored(_)));
    worker.signal("TERM");
    worker.wait_for_text("stopping: a mail on its way is waited for");
    go_on.store(true, Ordering::SeqCst);
    let output = worker.ended();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    // If it has only written the receipt, the next worker takes it into account.
    world.ok("work --once");
    assert_eq!(world.label(mail), Label::Success);
    assert_eq!(world.server.received(), 1);
    world.verify();
}

/// A worker that is fenced before the content of its mail does not send it.
#[test]
fn it_is_fenced_before_the_mail() {
    let (world, go_on, worker, mail) = held_at(|step| matches!(step, Step::Recipient(_)));
    world.ok(&format!("fence {mail} --as ann --yes"));
    assert_eq!(world.label(mail), Label::InDoubt);
    go_on.store(true, Ordering::SeqCst);
    // The worker itself says so, which proves it: the key is free.
    until(|| world.label(mail) == Label::Failed);
    assert_eq!(world.server.received(), 0);
    let shown = world.ok(&format!("show {mail}"));
    assert!(shown.contains("this process was fenced before it sent the mail"), "{shown}");
    world.ok(&format!("retry {mail} --as ann --yes"));
    let again = world.list(&Query::new()).into_iter().next_back().unwrap().id;
    until(|| world.label(again) == Label::Success);
    assert_eq!(world.server.received(), 1);
    let output = worker.stop();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    world.verify();
}
