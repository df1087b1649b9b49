//! The answers of a person to an execution in doubt, and their time.

use std::path::Path;

use machine::{
    Id,
    contract::{CallFact, Contract, InDoubt, Liveness, Progress, execution::Status},
    store::{CommitError, Store},
    typed::Refused,
};
use machine_tests::{
    actors::{ann, graph_runner},
    assert_err,
    samples::mail,
};

use serde_json::Value;

use crate::store::{
    child::{self, Other},
    service::{in_flight, receipt},
    support::{Place, begin, on_both, slow_mail},
};

on_both! {
    while_the_worker_is_alive_nobody_frees_the_key,
    before_the_settling_time_nobody_frees_the_key,
    the_settling_time_counts_from_the_end_of_the_worker,
    a_clock_that_goes_back_frees_nothing,
    what_was_applied_needs_no_waiting,
    an_override_names_a_person,
}

/// Asserts that a claim that it did not take effect is refused, and changes nothing; returns the doubt and why.
async fn refused(place: &Place, store: &Store, doubt: InDoubt) -> (InDoubt, CommitError) {
    let before = place.dump().await;
    let refused = store.confirm_not_applied(doubt, "nothing there", ann()).await;
    let Refused { machine, reason } = refused.unwrap_err();
    assert_eq!(place.dump().await, before);
    assert!(machine.execution().journal().uncommitted().is_empty());
    assert!(reason.to_string().contains("override by name"), "{reason}");
    (machine, reason)
}

async fn assert_held(place: &Place, contract: Contract, by: Id) {
    let second = begin(&place.store, place.stored(contract).await).await;
    assert_err!(second, CommitError::KeyHeld { by: of, .. } if *of == by);
}

async fn while_the_worker_is_alive_nobody_frees_the_key(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    let id = running.id();
    let call = in_flight(permit).await;
    let doubt = place.store.fence(id, "no answer", graph_runner()).await.unwrap();
    assert!(
        doubt.question().contains("could still be running in process "),
        "{}",
        doubt.question()
    );
    let (doubt, reason) = refused(&place, &place.store, doubt).await;
    assert_err!(Err::<(), _>(reason), CommitError::WorkerAlive { id: of, .. } if *of == id);
    assert_held(&place, mail("bob"), id).await;

    // Its end is noticed, and recorded.
    assert!(call.abort().await.is_cancelled());
    let failed = place.store.confirm_not_applied(doubt, "not sent", ann()).await.unwrap();
    assert_eq!(place.status(failed.id()).await, Status::Failed);
    let facts = place.facts(id).await;
    assert!(matches!(facts[..], [.., CallFact::WorkerEnded { .. }, CallFact::Confirmed { .. }]));
    let _ = place.done(mail("bob")).await;
}

/// A worker in another process, which is then killed.
#[tokio::test]
async fn while_the_process_is_alive_nobody_frees_the_key() {
    let place = Place::new().await;
    let id = place.stored(mail("bob")).await.id();
    let mut other = Other::start("store::child::begins", &place.file(), &[id]);
    other.wait_for("begun");
    let doubt = place.store.fence(id, "no answer", graph_runner()).await.unwrap();
    let (doubt, reason) = refused(&place, &place.store, doubt).await;
    assert_err!(Err::<(), _>(reason), CommitError::WorkerAlive { id: of, .. } if *of == id);
    other.kill();
    let _ = place.store.confirm_not_applied(doubt, "not sent", ann()).await.unwrap();
}

/// A request is on its way for a while, even after its sender is gone.
async fn before_the_settling_time_nobody_frees_the_key(place: Place) {
    let (place, clock) = place.clocked().await;
    let doubt = place.doubtful(slow_mail("bob")).await;
    let id = doubt.execution().id();
    clock.advance(59_999);
    let (doubt, reason) = refused(&place, &place.store, doubt).await;
    assert_err!(Err::<(), _>(reason), CommitError::NotSettled { id: of, left_ms: 1 } if *of == id);
    assert_held(&place, slow_mail("bob"), id).await;
    clock.advance(1);
    let _ = place.store.confirm_not_applied(doubt, "not sent", ann()).await.unwrap();
    let _ = place.done(slow_mail("bob")).await;
    assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
}

/// Not from when it was parked.
async fn the_settling_time_counts_from_the_end_of_the_worker(place: Place) {
    let (place, clock) = place.clocked().await;
    let (running, permit) = place.begun(slow_mail("bob")).await;
    let id = running.id();
    let doubt = place.store.fence(id, "no answer", graph_runner()).await.unwrap();
    clock.advance(100_000);
    let (_, reason) = refused(&place, &place.store, doubt).await;
    assert_err!(Err::<(), _>(reason), CommitError::WorkerAlive { .. });
    drop(permit);
    let doubt = place.recovered().await.pop().unwrap();
    let ended = place.facts(id).await.pop();
    assert_eq!(ended, Some(CallFact::WorkerEnded { at: place.store.now() }));
    clock.advance(59_000);
    let (doubt, reason) = refused(&place, &place.store, doubt).await;
    assert_err!(Err::<(), _>(reason), CommitError::NotSettled { left_ms: 1_000, .. });
    // Looking again does not start it anew.
    let again = place.recovered().await.pop().unwrap();
    clock.advance(1_000);
    let _ = place.store.confirm_not_applied(again, "not sent", ann()).await.unwrap();
    let late = place.store.confirm_not_applied(doubt, "not sent", ann()).await;
    assert_err!(late, Refused { reason: CommitError::Conflict { .. }, .. });
}

/// It parks for longer.
async fn a_clock_that_goes_back_frees_nothing(place: Place) {
    let (place, clock) = place.clocked().await;
    let doubt = place.doubtful(slow_mail("bob")).await;
    clock.advance(-1_000_000);
    let (doubt, reason) = refused(&place, &place.store, doubt).await;
    assert_err!(Err::<(), _>(reason), CommitError::NotSettled { left_ms: 1_060_000, .. });
    clock.set(i64::MIN);
    let (_, reason) = refused(&place, &place.store, doubt).await;
    assert_err!(Err::<(), _>(reason), CommitError::NotSettled { .. });
}

/// A person who saw that it took effect counts at once, even if the worker is alive.
async fn what_was_applied_needs_no_waiting(place: Place) {
    let (place, _clock) = place.clocked().await;
    let (running, permit) = place.begun(slow_mail("bob")).await;
    let _call = in_flight(permit).await;
    let doubt = place.store.fence(running.id(), "no answer", graph_runner()).await.unwrap();
    let done = place.store.confirm_applied(doubt, "bob has it", ann()).await.unwrap();
    assert_eq!(done.state().result, "bob has it");
    let facts = place.facts(done.id()).await;
    assert!(matches!(facts.last(), Some(CallFact::Confirmed { applied: true, .. })));
}

/// A person takes responsibility while the worker is alive, or the call may not have settled. That
/// stays recorded.
async fn an_override_names_a_person(place: Place) {
    let (running, permit) = place.begun(slow_mail("bob")).await;
    let call = in_flight(permit).await;
    let alive = place.store.fence(running.id(), "no answer", graph_runner()).await.unwrap();
    let unsettled = place.doubtful(slow_mail("carl")).await;
    for doubt in [alive, unsettled] {
        let (doubt, _) = refused(&place, &place.store, doubt).await;
        let failed = place.store.override_not_applied(doubt, "I pulled the plug", ann()).await;
        let failed = failed.unwrap();
        assert_eq!(failed.state().error, "I pulled the plug");
        let facts = place.facts(failed.id()).await;
        let Some(CallFact::Confirmed { applied: false, overridden: true, reason, .. }) =
            facts.last()
        else {
            panic!("{facts:?}");
        };
        assert_eq!(reason, "I pulled the plug");
        let loaded = place.store.load(failed.id()).await.unwrap();
        assert_eq!(Progress::of(&loaded).overridden_by(), Some("ann"));
        let _ = place.done(Contract::retry(&failed, ann())).await;
    }
    drop(call.answer(receipt("250 queued")).await);
    assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
}

/// Begins a mail in a process that is killed, and changes its lock file.
async fn of_a_killed_process(contract: Contract, change: impl FnOnce(&Path)) -> (Place, Id) {
    let place = Place::new().await;
    let id = place.stored(contract).await.id();
    child::begin_and_be_killed(&place.file(), id);
    let files = place.worker_files();
    assert_eq!(files.len(), 1);
    change(&files[0]);
    (place, id)
}

/// Changes the record of a lock file in place.
fn rewrite(file: &Path, change: impl FnOnce(&mut Value)) {
    let mut record = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    change(&mut record);
    std::fs::write(file, record.to_string()).unwrap();
}

fn of_another_machine(file: &Path) {
    rewrite(file, |record| {
        record["boot"] = "another".into();
        record["machine"] = "another".into();
    });
}

/// Puts a copy in the place of the lock file, as a backup that is restored does.
fn copy(file: &Path) {
    let aside = file.with_extension("aside");
    std::fs::copy(file, &aside).unwrap();
    std::fs::rename(&aside, file).unwrap();
}

/// The lock file of another worker, by another name.
fn link(file: &Path) {
    rewrite(file, |record| record["worker"] = "01a20742-1a79-717b-ab45-c8828b607eec".into());
}

/// A change of a lock file, with its name.
type Case = (&'static str, fn(&Path));

/// A lock file that is missing, a copy, or of another machine, proves nothing: the execution is parked, and
/// only a person by name frees its key.
#[tokio::test]
async fn a_lock_file_that_proves_nothing_leaves_the_worker_unknown() {
    let cases: [Case; 9] = [
        ("deleted", |file| std::fs::remove_file(file).unwrap()),
        ("of another machine", of_another_machine),
        ("a copy", copy),
        ("of another worker", link),
        ("empty", |file| std::fs::write(file, "").unwrap()),
        ("not text", |file| std::fs::write(file, [0xff, 0xfe]).unwrap()),
        ("a folder", |file| {
            std::fs::remove_file(file).unwrap();
            std::fs::create_dir(file).unwrap();
        }),
        ("a pipe", |file| {
            std::fs::remove_file(file).unwrap();
            let mode = rustix::fs::Mode::RWXU;
            rustix::fs::mknodat(rustix::fs::CWD, file, rustix::fs::FileType::Fifo, mode, 0)
                .unwrap();
        }),
        ("another text", |file| std::fs::write(file, "machine worker on ").unwrap()),
    ];
    for (case, change) in cases {
        let (place, id) = of_a_killed_process(mail("bob"), change).await;
        let doubt = place.recovered().await.pop().unwrap();
        let facts = place.facts(id).await;
        assert!(
            matches!(facts.last(), Some(CallFact::Parked { worker: Liveness::Unknown, .. })),
            "{case}: {facts:?}",
        );
        assert!(doubt.question().contains("It is unknown whether"), "{}", doubt.question());
        let (doubt, reason) = refused(&place, &place.store, doubt).await;
        assert_err!(Err::<(), _>(reason), CommitError::WorkerUnknown { id: of } if *of == id);
        assert_held(&place, mail("bob"), id).await;
        // Another try finds nothing new.
        assert_eq!(place.recovered().await.len(), 1);
        let failed = place.store.override_not_applied(doubt, "the host burnt", ann()).await;
        let _ = place.done(Contract::retry(&failed.unwrap(), ann())).await;
    }
}

/// Where the lock was taken on this machine, it proves the end, whatever the host is called.
#[tokio::test]
async fn a_lock_of_this_machine_proves_the_end() {
    let cases: [Case; 3] = [
        ("a new pod", |file| rewrite(file, |record| record["host"] = "pod-a".into())),
        ("a reboot", |file| rewrite(file, |record| record["boot"] = "an earlier one".into())),
        ("a folder that was renamed", |file| {
            let folder = file.parent().unwrap();
            let aside = folder.with_extension("aside");
            std::fs::rename(folder, &aside).unwrap();
            std::fs::rename(&aside, folder).unwrap();
        }),
    ];
    for (case, change) in cases {
        let (place, id) = of_a_killed_process(mail("bob"), change).await;
        let doubt = place.recovered().await.pop().unwrap();
        let facts = place.facts(id).await;
        assert!(
            matches!(facts.last(), Some(CallFact::Parked { worker: Liveness::Ended, .. })),
            "{case}: {facts:?}",
        );
        let _ = place.store.confirm_not_applied(doubt, "not sent", ann()).await.unwrap();
    }
}

/// A process that can open no lock file knows nothing of other workers, and fences none.
#[tokio::test]
async fn a_lack_of_descriptors_proves_nothing() {
    let place = Place::new().await;
    let id = place.stored(mail("bob")).await.id();
    let mut worker = Other::start("store::child::begins", &place.file(), &[id]);
    worker.wait_for("begun");
    let mut poor = Other::start("store::child::recovers_without_descriptors", &place.file(), &[id]);
    poor.wait_for("nothing was parked");
    poor.join();
    assert!(!place.facts(id).await.iter().any(|fact| matches!(fact, CallFact::Parked { .. })));
    worker.kill();
}

/// A frozen process keeps its lock. A copy of its lock file is not locked, and proves nothing.
#[tokio::test]
async fn a_copied_lock_file_does_not_end_a_frozen_worker() {
    let place = Place::new().await;
    let id = place.stored(mail("bob")).await.id();
    let mut other = Other::start("store::child::begins", &place.file(), &[id]);
    other.wait_for("begun");
    other.freeze();
    copy(&place.worker_files()[0]);
    let doubt = place.recovered().await.pop().unwrap();
    let (doubt, reason) = refused(&place, &place.store, doubt).await;
    assert_err!(Err::<(), _>(reason), CommitError::WorkerUnknown { id: of } if *of == id);
    // Also in a copy of the whole folder.
    let elsewhere = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(place.folder()).unwrap() {
        let file = file.unwrap().path();
        std::fs::copy(&file, elsewhere.path().join(file.file_name().unwrap())).unwrap();
    }
    let copied = Store::sqlite(elsewhere.path().join("agent.db")).await.unwrap();
    let doubt = (doubt, copied.in_doubt(id).await.unwrap()).1;
    let (_, reason) = refused(&place, &copied, doubt).await;
    assert_err!(Err::<(), _>(reason), CommitError::WorkerUnknown { id: of } if *of == id);
    other.kill();
}

/// The lock file of another machine is not removed, as long as it may be a proof there.
#[tokio::test]
async fn the_lock_file_of_another_machine_stays() {
    let (place, _) = of_a_killed_process(mail("bob"), of_another_machine).await;
    let doubt = place.recovered().await.pop().unwrap();
    assert_eq!(place.worker_files().len(), 1);
    let _ = place.store.confirm_applied(doubt, "bob has it", ann()).await.unwrap();
    assert_eq!(place.recovered().await.len(), 0);
    assert_eq!(place.worker_files().len(), 1);
}

/// The end of a worker is recorded, and outlives its lock file.
#[tokio::test]
async fn the_end_of_a_worker_is_remembered() {
    let place = Place::new().await;
    let id = place.stored(mail("bob")).await.id();
    child::begin_and_be_killed(&place.file(), id);
    assert_eq!(place.recovered().await.len(), 1);
    assert_eq!(place.worker_files().len(), 0);
    let elsewhere = place.open_again().await;
    let doubt = elsewhere.in_doubt(id).await.unwrap();
    let _ = elsewhere.confirm_not_applied(doubt, "not sent", ann()).await.unwrap();
}
