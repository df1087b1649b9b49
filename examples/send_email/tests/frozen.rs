//! A worker is frozen in its call, after the server took its mail, and thaws later; or it is late
//! for another reason. Others take over, and send nothing twice.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use machine::{Id, view::Label};
use mailin::response;

use crate::{
    server::Step,
    testing::{Process, STUCK},
    world::{World, printed},
};

/// The time limits of a call until the server has its mail. A computer that is slow just then gets
/// a second try, with more time.
const TIMES: [&str; 2] = ["3s", "30s"];

/// Sends a mail in a worker that is frozen in its call.
fn frozen() -> (World, Process, Id) {
    let frozen = TIMES.into_iter().find_map(|time| {
        let world = World::new();
        let (gate, mail) = world.ask_for(&format!("--to bob@example.com --timeout {time}"));
        world.ok(&format!("approve --yes {gate} --as ann"));
        let child = world.start_and_freeze(&format!("work --once --lease {time}"))?;
        (world.label(mail) == Label::InProgress).then_some((world, child, mail))
    });
    frozen.expect("the server has the mail before the call is overdue")
}

/// Waits until the mail of a frozen worker is overdue. Another worker takes over.
fn frozen_and_overdue() -> (World, Process, Id) {
    let (world, child, mail) = frozen();
    until_parked(&world, mail);
    assert_eq!(world.server.received(), 1);
    let listed = world.attention();
    assert!(listed.contains("in doubt"), "{listed}");
    let shown = world.show(mail);
    assert!(shown.contains("IN_DOUBT"), "{shown}");
    assert!(shown.contains("the call could still be running in process "), "{shown}");
    assert!(shown.contains(&format!("confirm {mail} applied --as NAME")), "{shown}");
    // It would be refused.
    assert!(!shown.contains("not-applied --as"), "{shown}");
    (world, child, mail)
}

/// Other workers work until one has given the mail up for the frozen one.
fn until_parked(world: &World, mail: Id) {
    // Regardless of whether its lease has ended by now.
    let told = world.work();
    let other = world.start("work");
    wait_for(world, mail, Label::InDoubt);
    let output = other.stop();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let told = told + &printed(&output);
    assert!(told.contains(&format!("{mail}  [IN_DOUBT")), "{told}");
}

/// Waits until the mail is in this state.
fn wait_for(world: &World, mail: Id, label: Label) {
    let start = Instant::now();
    while world.label(mail) != label {
        assert!(start.elapsed() < STUCK, "it is {}", world.label(mail));
        thread::sleep(Duration::from_millis(5));
    }
}

/// Lets it continue, until it has nothing more to do.
fn thaw(child: Process) {
    child.signal("CONT");
    let output = child.ended();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

/// Time parks, and never frees: its receipt counts when it arrives.
#[test]
fn its_receipt_is_late_and_counts() {
    let (world, child, mail) = frozen_and_overdue();
    let told = world.fails(&format!("confirm {mail} not-applied --as ann --yes"));
    assert!(told.contains("may still be running in process "), "{told}");
    let told = world.fails(&format!("retry {mail} --as ann --yes"));
    assert!(told.contains("is IN_DOUBT"), "{told}");
    // Nor does it help to ask for the same mail again.
    let (gate, other) = world.ask();
    world.ok(&format!("approve --yes {gate} --as ann"));
    world.work();
    assert_eq!(world.label(other), Label::NotStarted);
    assert_eq!(world.label(mail), Label::InDoubt);
    // A worker that waits takes its receipt, and ends the mail that is no longer needed.
    let mut worker = world.start("work");
    // It prints what comes after its start.
    worker.wait_for_text("\n");
    thaw(child);
    wait_for(&world, mail, Label::Success);
    wait_for(&world, other, Label::Cancelled);
    let output = worker.stop();
    let printed = printed(&output);
    assert!(printed.contains(&format!("{mail}  [SUCCESS ⚠️ IRREVERSIBLE (human-")), "{printed}");
    assert!(printed.contains(&format!("{mail} has already performed it")), "{printed}");
    assert_eq!(world.server.received(), 1);
    world.verify();
}

/// A server that holds its answer back until it is released.
fn waiting_at(held: fn(&Step<'_>) -> bool) -> (World, Arc<AtomicBool>) {
    let go_on = Arc::new(AtomicBool::new(false));
    let may_go_on = Arc::clone(&go_on);
    let world = World::with(move |step| {
        while held(&step) && !may_go_on.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(5));
        }
        response::OK
    });
    (world, go_on)
}

/// A worker whose mail the server has, and does not answer.
fn unanswered() -> (World, Arc<AtomicBool>, Process, Id) {
    let unanswered = TIMES.into_iter().find_map(|time| {
        let (world, go_on) = waiting_at(|step| matches!(step, Step::Stored(_)));
        let (gate, mail) = world.ask_for(&format!("--to bob@example.com --timeout {time}"));
        world.ok(&format!("approve --yes {gate} --as ann"));
        let worker = world.start("work");
        let start = Instant::now();
        while world.server.received() == 0 {
            // It did not come so far in time.
            if world.label(mail) == Label::Failed {
                return None;
            }
            assert!(start.elapsed() < STUCK, "it is {}", world.label(mail));
            thread::sleep(Duration::from_millis(5));
        }
        Some((world, go_on, worker, mail))
    });
    unanswered.expect("the server has the mail before the call is overdue")
}

/// No process is frozen, only the server is slow: the worker waits for the receipt all the same,
/// also one that is asked to stop, and says so.
#[test]
fn its_server_is_slow() {
    let (world, go_on, mut worker, mail) = unanswered();
    wait_for(&world, mail, Label::InDoubt);
    let told = world.fails(&format!("confirm {mail} not-applied --as ann --yes"));
    assert!(told.contains("may still be running in process "), "{told}");
    worker.signal("TERM");
    worker.wait_for_text("stopping: waiting up to 10s for 1 call to finish");
    go_on.store(true, Ordering::SeqCst);
    let output = worker.ended();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    // It has written the receipt; the next worker takes it into account.
    world.work();
    assert_eq!(world.label(mail), Label::Success);
    assert_eq!(world.server.received(), 1);
    world.verify();
}

/// A worker that is fenced before the content of its mail does not send it.
#[test]
fn it_is_fenced_before_the_mail() {
    let (world, go_on) = waiting_at(|step| matches!(step, Step::Recipient(_)));
    let (gate, mail) = world.ask();
    world.ok(&format!("approve --yes {gate} --as ann"));
    let worker = world.start("work");
    wait_for(&world, mail, Label::InProgress);
    world.ok(&format!("fence {mail} --as ann --yes"));
    assert_eq!(world.label(mail), Label::InDoubt);
    go_on.store(true, Ordering::SeqCst);
    // The worker itself says so, which proves it: the key is free.
    wait_for(&world, mail, Label::Failed);
    assert_eq!(world.server.received(), 0);
    let shown = world.show(mail);
    assert!(shown.contains("this process was fenced before it sent the mail"), "{shown}");
    world.ok(&format!("retry {mail} --as ann --yes"));
    let again = world.list().into_iter().next_back().unwrap().id;
    wait_for(&world, again, Label::Success);
    assert_eq!(world.server.received(), 1);
    let output = worker.stop();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    world.verify();
}
