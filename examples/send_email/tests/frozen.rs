//! A process is frozen in its call, after the server took its mail, and thaws later; or it is late for
//! another reason.

use std::{
    process::Child,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use machine::{Id, contract::AnyExecution, view::Label};
use mailin::response;

use crate::{
    server::Step,
    world::{World, errors, signal},
};

/// Sends a mail in a process that is frozen in its call, and waits until it is overdue.
fn frozen_and_overdue(world: &World) -> (Child, Id) {
    let (gate, mail) = world.ask_for("--to bob@example.com --timeout 2s");
    let child = world.start_and_freeze(&format!("approve --yes {gate} --as ann"));
    assert_eq!(world.label(mail), Label::InProgress);
    thread::sleep(Duration::from_secs(2));
    let status = world.ok("status");
    assert!(status.contains(&format!("{mail}  [IN_DOUBT (human-confirmed)]")), "{status}");
    assert!(status.contains("Its worker is still alive and may still do it."), "{status}");
    assert!(status.contains(&format!("next: settle {mail} sent|not-sent --as NAME")), "{status}");
    (child, mail)
}

/// Lets it continue. It reports an error, because it was given up on.
fn thaw(child: Child) {
    signal(child.id(), "CONT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}

/// Time parks, and never frees: its receipt counts when it arrives.
#[test]
fn its_receipt_is_late_and_counts() {
    let world = World::new();
    let (child, mail) = frozen_and_overdue(&world);
    let told = world.fails(&format!("settle {mail} not-sent --as ann"));
    assert!(told.contains("is alive and may still do it"), "{told}");
    let told = world.fails(&format!("retry {mail} --as ann"));
    assert!(told.contains("is IN_DOUBT"), "{told}");
    // Nor does it help to ask for the same mail again.
    let (gate, other) = world.ask();
    let told = world.fails(&format!("approve --yes {gate} --as ann"));
    assert!(told.contains(&mail.to_string()), "{told}");
    assert_eq!(world.label(other), Label::NotStarted);
    thaw(child);
    // The next command, whatever it is, finds the receipt.
    let printed = world.ok("ask --to carol@example.com");
    assert!(printed.starts_with(&format!("{mail}  [SUCCESS ⚠️ IRREVERSIBLE (human-")), "{printed}");
    assert_eq!(world.server.received(), 1);
    world.verify();
}

/// A person takes responsibility by name, and was wrong. Everybody sees it, and nobody repeats it.
#[test]
fn its_receipt_contradicts_an_override() {
    let world = World::new();
    let (child, mail) = frozen_and_overdue(&world);
    world.ok(&format!("settle {mail} not-sent --as ann --override"));
    assert_eq!(world.label(mail), Label::Failed);
    thaw(child);
    assert_eq!(world.label(mail), Label::Contradicted);
    let status = world.ok("status");
    assert!(status.starts_with(&format!("{mail}  [CONTRADICTED")), "{status}");
    assert!(status.contains("it took place, perhaps more than once: 250 OK"), "{status}");
    for command in [format!("retry {mail} --as ann"), "ask --to bob@example.com".to_owned()] {
        let told = world.fails(&command);
        assert!(told.contains(&format!("{mail} has already done what")), "{command}: {told}");
    }
    assert_eq!(world.server.received(), 1);
    world.verify();
}

/// The worst that a person can bring about by name: two mails. The first execution says so.
#[test]
fn its_receipt_comes_after_the_retry() {
    let world = World::new();
    let (child, mail) = frozen_and_overdue(&world);
    let (_, carols) = world.ask_for("--to carol@example.com");
    world.ok(&format!("settle {mail} not-sent --as ann --override"));
    world.ok(&format!("retry {mail} --as ann"));
    assert_eq!(world.server.received(), 2);
    thaw(child);
    let again = world.list().into_iter().next_back().unwrap().id;
    assert!(matches!(world.load(again), AnyExecution::Completed(_)));
    // It comes first, although it is not the newest.
    let status = world.ok("status");
    assert!(status.starts_with(&format!("{mail}  [CONTRADICTED")), "{status}");
    for id in [mail, again] {
        world.fails(&format!("retry {id} --as ann"));
    }
    assert_eq!(world.label(carols), Label::NotStarted);
    assert_eq!(world.server.received(), 2);
    world.verify();
}

/// A server that holds its answer back until it may go on.
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

/// Nobody is frozen, only the server is slow: the process waits for the receipt all the same.
#[test]
fn its_server_is_slow() {
    let (world, go_on) = waiting_at(|step| matches!(step, Step::Stored(_)));
    let (gate, mail) = world.ask_for("--to bob@example.com --timeout 100ms");
    let mut child = world.command(&format!("approve --yes {gate} --as ann")).spawn().unwrap();
    while world.label(mail) != Label::InDoubt {
        assert!(child.try_wait().unwrap().is_none(), "it ended without an answer");
        thread::yield_now();
    }
    let told = world.fails(&format!("settle {mail} not-sent --as ann"));
    assert!(told.contains("is alive and may still do it"), "{told}");
    go_on.store(true, Ordering::SeqCst);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(errors(&output).contains("the answer came late"), "{output:?}");
    let status = world.ok("status");
    assert!(status.starts_with(&format!("{mail}  [SUCCESS ⚠️ IRREVERSIBLE")), "{status}");
    assert_eq!(world.server.received(), 1);
    world.verify();
}

/// A process that is shut out before the content of its mail does not send it.
#[test]
fn it_is_shut_out_before_the_mail() {
    let (world, go_on) = waiting_at(|step| matches!(step, Step::Recipient(_)));
    let (gate, mail) = world.ask();
    let mut child = world.command(&format!("approve --yes {gate} --as ann")).spawn().unwrap();
    while world.label(mail) != Label::InProgress {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was shut out");
        thread::yield_now();
    }
    let status = world.ok("status");
    assert!(status.contains(&format!("next: wait, or fence {mail}")), "{status}");
    world.ok(&format!("fence {mail}"));
    assert_eq!(world.label(mail), Label::InDoubt);
    go_on.store(true, Ordering::SeqCst);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(world.server.received(), 0);
    // The process itself says so, which proves it: the key is free.
    let status = world.ok("status");
    assert!(status.contains("this process was shut out before it sent the mail"), "{status}");
    world.ok(&format!("retry {mail} --as ann"));
    assert_eq!(world.server.received(), 1);
    world.verify();
}
