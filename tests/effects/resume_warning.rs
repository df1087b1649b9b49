//! The warning if the number of resumed machines differs from the number that wait (EX-7).

use machine_tests::actors::reasoning_node;
use std::{
    io::Write,
    sync::{Arc, Mutex},
};

use machine::{
    Id,
    contract::{Contract, execution::Waiting},
    effects::Resume,
};
use machine_tests::samples::{Ticket, asked, asked_in};

use crate::store::support::{Place, on_both};

on_both! {
    a_different_number_is_warned_of,
    the_same_number_is_not,
    other_machines_are_not_counted,
}

/// The `tracing` output of this test.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Resumes `id` as one of `count` machines, and returns the log.
async fn logged(place: &Place, id: Id, count: usize) -> String {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber =
        tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
    let guard = tracing::subscriber::set_default(subscriber);
    let _ =
        place.store.resume_with::<Waiting>(id, Resume::default().resuming(count)).await.unwrap();
    drop(guard);
    let bytes = lines.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

async fn waiting(place: &Place, session: &str) -> Id {
    let contract = Contract::ecs_request("Deploy?", reasoning_node()).unwrap().session(session);
    let mut waiting = asked_in(contract);
    place.store.create(&mut waiting).await.unwrap();
    waiting.id()
}

/// It warns if the numbers differ, and continues.
async fn a_different_number_is_warned_of(place: Place) {
    let id = waiting(&place, "s1").await;
    waiting(&place, "s1").await;
    let line = logged(&place, id, 1).await;
    assert!(line.contains("WARN"), "{line}");
    assert!(line.contains("machine.resume.resuming=1"), "{line}");
    assert!(line.contains("machine.resume.waiting=2"), "{line}");
    assert!(!line.contains("s1"), "sessions are not for logs: {line}");
    // The resumed machine: its id, its state, and how long it has waited.
    let resume = line.lines().find(|line| line.contains(" machine.resume machine.kind")).unwrap();
    assert!(resume.contains("INFO") && resume.contains("machine.state=\"waiting\""), "{resume}");
    assert!(resume.contains(&id.to_string()), "{resume}");
    assert!(resume.contains("machine.resume.age_ms="), "{resume}");
}

/// It is silent if they agree, whatever waits in other sessions.
async fn the_same_number_is_not(place: Place) {
    let id = waiting(&place, "s1").await;
    waiting(&place, "s1").await;
    waiting(&place, "s2").await;
    let line = logged(&place, id, 2).await;
    assert!(!line.contains("WARN"), "{line}");
}

/// Other kinds of machines are not counted, even in a state of the same name.
async fn other_machines_are_not_counted(place: Place) {
    let mut question = asked("Deploy?");
    let mut ticket = Ticket::new().park();
    place.store.batch().create(&mut question).create(&mut ticket).write().await.unwrap();
    let line = logged(&place, question.id(), 1).await;
    assert!(!line.contains("WARN"), "{line}");
}
