//! Resuming waiting machines.

use std::{io::Write, sync::Mutex};

use machine::effects::ResumeWarning;
use machine_tests::samples::{asked_in, ticket};

use crate::effects::prelude::*;

on_file! {
    a_waiting_execution_resumes,
    what_does_not_wait_is_not_resumed,
    an_answer_does_not_make_a_question_younger,
    a_question_is_as_old_as_its_wait,
    the_age_is_by_the_clock_of_the_store,
}

/// WAITING to RUNNING to COMPLETED, also through another store. Nothing is written before the
/// commit.
async fn a_waiting_execution_resumes(place: Place) {
    let mut waiting = asked("Deploy?");
    place.store.create(&mut waiting).await.unwrap();
    let elsewhere = place.open_again().await;
    let before = place.dump();
    let waiting = elsewhere.resume::<Waiting>(waiting.id()).await.unwrap();
    assert_eq!((waiting.state().prompt.as_str(), place.dump()), ("yes or no?", before));
    let mut done = waiting.resume(graph_runner()).succeed("yes".to_owned(), graph_runner());
    elsewhere.commit(&mut done).await.unwrap();
    assert_eq!(place.status(done.id()).await, Status::Completed);
}

/// An unknown id, a machine of another kind, another state, of which the error names the legal
/// moves, a terminal machine, and an execution in doubt, which must be settled first.
async fn what_does_not_wait_is_not_resumed(place: Place) {
    let refused = async |id| place.store.resume::<Waiting>(id).await.unwrap_err();
    let stranger = asked("Deploy?").id();
    assert_is!(refused(stranger).await,
        StateError::Load(LoadError::NotFound { id }) if *id == stranger);

    let mut other = Ticket::new().park();
    place.store.create(&mut other).await.unwrap();
    assert_is!(refused(other.id()).await,
        StateError::Load(LoadError::Unreadable(VerifyError::OtherMachine { found, .. }))
        if found == "ticket");
    let _ = place.store.resume::<ticket::Waiting>(other.id()).await.unwrap();

    let pending = place.stored(read("a.txt")).await;
    let error = refused(pending.id()).await;
    let text = error.to_string();
    assert_is!(error, StateError::OtherState { expected: "WAITING", .. });
    assert!(text.contains("PENDING") && text.contains("start -> RUNNING"), "{text}");

    let mut done = pending.start(tool_node()).succeed("x".into(), tool_node());
    place.store.commit(&mut done).await.unwrap();
    let text = refused(done.id()).await.to_string();
    assert!(text.contains("COMPLETED is terminal"), "{text}");

    let doubtful = place.doubtful(mail("bob")).await.id();
    assert_is!(refused(doubtful).await, StateError::InDoubt { id } if *id == doubtful);
}

const HOUR_MS: i64 = 3_600_000;

/// A limit of a minute for the age of a question.
fn minute() -> Resume {
    Resume { max_age: Some(Duration::from_mins(1)), ..Resume::default() }
}

fn day() -> Resume {
    Resume { max_age: Some(Duration::from_hours(24)), ..Resume::default() }
}

/// Stores a machine that entered WAITING at now plus `shift_ms`.
async fn waiting_since(place: &Place, shift_ms: i64) -> Id {
    let mut claim = forge::claim(&asked("Deploy?"));
    for entry in &mut claim.journal {
        entry.at = machine::clock::now() + shift_ms;
    }
    let mut waiting = forge::cross_execution(claim).unwrap();
    place.store.create(&mut waiting).await.unwrap();
    waiting.id()
}

/// A checkpoint that is too old is refused, but stays stored. A clock that went back does not make
/// one old.
async fn a_question_is_as_old_as_its_wait(place: Place) {
    let id = waiting_since(&place, -HOUR_MS).await;
    let before = place.dump();
    let refused = place.store.resume_with::<Waiting>(id, minute()).await;
    assert_err!(refused, StateError::Expired { id: of, age_ms, limit_ms: 60_000 }
        if *of == id && *age_ms >= HOUR_MS.unsigned_abs());
    assert_eq!(place.dump(), before);
    let _ = place.store.resume_with::<Waiting>(id, day()).await.unwrap();
    let _ = place.store.resume::<Waiting>(id).await.unwrap();

    let id = waiting_since(&place, HOUR_MS).await;
    let _ = place.store.resume_with::<Waiting>(id, minute()).await.unwrap();
}

/// The clock of the system is two hours behind.
async fn the_age_is_by_the_clock_of_the_store(place: Place) {
    let clock = Hand::at(machine::clock::now() + 2 * HOUR_MS);
    let place = place.with_clock(&clock).await;
    let id = waiting(&place, "s1").await;
    let _ = place.store.resume_with::<Waiting>(id, minute()).await.unwrap();
    clock.advance(60_001);
    let refused = place.store.resume_with::<Waiting>(id, minute()).await;
    assert_err!(refused, StateError::Expired { age_ms: 60_001, .. });
}

/// The limit counts from when the question was asked, also if an answer was stored just now.
async fn an_answer_does_not_make_a_question_younger(place: Place) {
    let id = waiting_since(&place, -HOUR_MS).await;
    let question = place.store.question(id).await.unwrap();
    let question = place.store.respond(question, "yes", ann()).await.unwrap();
    let refused = place.store.resume_with::<Waiting>(id, minute()).await;
    assert_err!(refused, StateError::Expired { .. });
    let refused = place.store.proceed(question, minute(), graph_runner()).await.unwrap_err();
    let EffectError::NotResumed { source } = refused.reason else { panic!("{refused}") };
    assert_is!(*source, StateError::Expired { age_ms, limit_ms: 60_000, .. }
        if *age_ms >= HOUR_MS.unsigned_abs());

    let day = Resume { resuming: Some(2), ..day() };
    let resumed = place.store.proceed(refused.machine, day, graph_runner()).await.unwrap();
    assert_eq!(resumed.execution.status(), Status::Completed);
    assert!(resumed.age_ms >= HOUR_MS.unsigned_abs(), "{resumed:?}");
    assert_eq!(resumed.warnings, [ResumeWarning::Number { resuming: 2, waiting: 1 }]);
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
    let checks = Resume { resuming: Some(count), ..Resume::default() };
    let _ = place.store.resume_with::<Waiting>(id, checks).await.unwrap();
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

/// It warns if the numbers differ, and continues. It is silent if they agree, whatever waits in
/// other sessions, and whatever other kinds of machines are in a state of the same name.
#[tokio::test]
async fn a_different_number_is_warned_of() {
    // A thread of another test that is the first to report something decides for the process
    // whether it is reported.
    if machine_tests::is_alone("effects::resume::a_different_number_is_warned_of") {
        warns_of_a_different_number(Place::new().await).await;
    }
}

async fn warns_of_a_different_number(place: Place) {
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

    waiting(&place, "s2").await;
    let line = logged(&place, id, 2).await;
    assert!(!line.contains("WARN"), "{line}");

    let place = place.another().await;
    let mut question = asked("Deploy?");
    let mut ticket = Ticket::new().park();
    place.store.batch().create(&mut question).create(&mut ticket).write().await.unwrap();
    let line = logged(&place, question.id(), 1).await;
    assert!(!line.contains("WARN"), "{line}");
}
