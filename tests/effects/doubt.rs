//! The answers of a person to an execution in doubt, and their time.

use std::path::Path;

use serde_json::Value;

use crate::{effects::prelude::*, store::child};

on_file! {
    the_key_is_held_until_the_settling_time,
    the_settling_time_counts_from_the_end_of_the_worker,
    a_clock_that_goes_back_frees_nothing,
    without_a_settling_time_a_clock_that_goes_back_holds_nothing,
    an_override_names_a_person,
}

/// Asserts that a claim that it did not take effect is refused, with the hint to override; returns
/// the doubt and why.
async fn refused(place: &Place, doubt: InDoubt) -> (InDoubt, EffectError) {
    let (doubt, reason) = place.refuses_denial(doubt).await;
    assert!(reason.to_string().contains("override"), "{reason}");
    (doubt, reason)
}

/// A worker in another process, which is then killed.
#[tokio::test]
async fn a_live_process_keeps_its_key() {
    let place = Place::new().await;
    let id = place.stored(mail("bob")).await.id();
    let other = child::begins_elsewhere(&place.file(), id);
    let (doubt, reason) = refused(&place, place.fenced(id).await).await;
    assert_is!(reason, EffectError::WorkerAlive { id: of, .. } if *of == id);
    other.kill();
    let _ = place.deny(doubt).await;
}

/// A request is on its way for a while, even after its sender is gone.
async fn the_key_is_held_until_the_settling_time(place: Place) {
    let (place, clock) = place.clocked().await;
    let doubt = place.doubtful(slow_mail("bob")).await;
    let id = doubt.id();
    clock.advance(59_999);
    let (doubt, reason) = refused(&place, doubt).await;
    assert_is!(reason, EffectError::NotSettled { id: of, left_ms: 1 } if *of == id);
    place.is_held(slow_mail("bob"), id).await;
    clock.advance(1);
    let _ = place.deny(doubt).await;
    let _ = place.done(slow_mail("bob")).await;
    place.assert_intact().await;
}

/// Not from when it was parked.
async fn the_settling_time_counts_from_the_end_of_the_worker(place: Place) {
    let (place, clock) = place.clocked().await;
    let (running, permit) = place.begun(slow_mail("bob")).await;
    let id = running.id();
    let doubt = place.fenced(id).await;
    clock.advance(100_000);
    let (_, reason) = refused(&place, doubt).await;
    assert_is!(reason, EffectError::WorkerAlive { .. });
    drop(permit);
    let doubt = place.doubt().await;
    let ended = place.facts(id).await.pop();
    assert_eq!(ended, Some(CallFact::WorkerEnded { at: place.store.now() }));
    clock.advance(59_000);
    let (doubt, reason) = refused(&place, doubt).await;
    assert_is!(reason, EffectError::NotSettled { left_ms: 1_000, .. });
    // Looking again does not start it anew.
    let again = place.doubt().await;
    clock.advance(1_000);
    let _ = place.deny(again).await;
    let (_, late) = place.refuses_denial(doubt).await;
    assert_is!(late, EffectError::Commit(CommitError::Conflict { .. }));
}

/// It parks for longer.
async fn a_clock_that_goes_back_frees_nothing(place: Place) {
    let (place, clock) = place.clocked().await;
    let doubt = place.doubtful(slow_mail("bob")).await;
    clock.advance(-1_000_000);
    let (doubt, reason) = refused(&place, doubt).await;
    assert_is!(reason, EffectError::NotSettled { left_ms: 1_060_000, .. });
    clock.set(i64::MIN);
    assert_is!(refused(&place, doubt).await.1, EffectError::NotSettled { .. });
}

/// Its tool says that nothing of it is on its way.
async fn without_a_settling_time_a_clock_that_goes_back_holds_nothing(place: Place) {
    let (place, clock) = place.clocked().await;
    let doubt = place.doubtful(mail("bob")).await;
    clock.advance(-1_000_000);
    let _ = place.deny(doubt).await;
    let _ = place.done(mail("bob")).await;
    place.assert_intact().await;
}

/// A person takes responsibility while the worker is alive, or the call may not have settled. That
/// stays recorded.
async fn an_override_names_a_person(place: Place) {
    let (_running, call, alive) = place.fenced_in_call(slow_mail("bob")).await;
    let unsettled = place.doubtful(slow_mail("carl")).await;
    for doubt in [alive, unsettled] {
        let failed = place.overrule(refused(&place, doubt).await.0).await;
        assert_eq!(failed.state().error, "nothing there");
        let facts = place.facts(failed.id()).await;
        assert_is!(facts.last(),
            Some(CallFact::Confirmed { applied: false, overridden: true, reason, .. })
            if reason == "nothing there");
        let history = place.store.history(failed.id()).await.unwrap();
        assert!(history.entries.iter().any(|entry| entry.by.as_deref() == Some("ann")));
        let _ = place.done(Contract::retry(&failed, ann())).await;
    }
    drop(call.answer(receipt("250 queued")).await);
    place.assert_intact().await;
}

/// Begins a mail in a process that is killed, and changes its lock file.
async fn of_a_killed_process(change: impl FnOnce(&Path)) -> (Place, Id) {
    let place = Place::new().await;
    let id = place.stored(mail("bob")).await.id();
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

/// Puts a copy in the place of the lock file, as a backup that is restored does.
fn copy(file: &Path) {
    let aside = file.with_extension("aside");
    std::fs::copy(file, &aside).unwrap();
    std::fs::rename(&aside, file).unwrap();
}

/// A change of a lock file, with its name.
type Case = (&'static str, fn(&Path));

/// The lock file of another machine.
const OF_ANOTHER_MACHINE: &str = "of another machine";

/// A lock file that is missing, a copy, or of another machine, proves nothing: the execution is
/// parked, and only the service or a person by name frees its key.
#[tokio::test]
async fn a_lock_file_that_proves_nothing_leaves_the_worker_unknown() {
    let cases: [Case; 9] = [
        ("deleted", |file| std::fs::remove_file(file).unwrap()),
        (OF_ANOTHER_MACHINE, |file| {
            rewrite(file, |record| {
                record["boot"] = "another".into();
                record["machine"] = "another".into();
            });
        }),
        ("a copy", copy),
        ("of another worker", |file| {
            rewrite(file, |record| {
                record["worker"] = "01a20742-1a79-717b-ab45-c8828b607eec".into();
            });
        }),
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
        let (place, id) = of_a_killed_process(change).await;
        let doubt = place.doubt().await;
        assert_eq!(place.parked(id).await, Liveness::Unknown, "{case}");
        assert!(doubt.question().contains("It is unknown whether"), "{}", doubt.question());
        let (doubt, reason) = refused(&place, doubt).await;
        assert_is!(reason, EffectError::WorkerUnknown { id: of } if *of == id);
        let not_found = Counting::finds(Err(NoReceipt::not_applied("we have no such mail")));
        let asked = place.store.ask_service::<Action>(doubt, &not_found, tool_node()).await;
        let refused = asked.unwrap_err();
        assert_is!(refused.reason, EffectError::WorkerUnknown { id: of } if *of == id);
        place.is_held(mail("bob"), id).await;
        // Another try finds nothing new.
        let _ = place.doubt().await;
        if case == "deleted" {
            let found = Counting::finds(receipt("queued as 4711"));
            let asked =
                place.store.ask_service::<Action>(refused.machine, &found, tool_node()).await;
            assert_is!(asked, Ok(Settled::Completed(_)));
        } else {
            let failed = place.overrule(refused.machine).await;
            let _ = place.done(Contract::retry(&failed, ann())).await;
        }
        // The lock file of another machine is not removed, as long as it may be a proof there.
        if case == OF_ANOTHER_MACHINE {
            assert_eq!(place.recovered().await.len(), 0);
            assert_eq!(place.worker_files().len(), 2, "and that of this process");
        }
    }
}

/// Where the lock was taken on this machine, it proves the end, whatever the host is called. The
/// end is recorded, and outlives the lock file.
#[tokio::test]
async fn a_lock_of_this_machine_proves_the_end() {
    let cases: [Case; 4] = [
        ("as it was", |_| {}),
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
        let (place, id) = of_a_killed_process(change).await;
        let _ = place.doubt().await;
        assert_eq!(place.parked(id).await, Liveness::Ended, "{case}");
        assert_eq!(place.worker_files().len(), 0, "{case}");
        let elsewhere = place.open_again().await;
        let doubt = elsewhere.in_doubt(id).await.unwrap();
        let _ = elsewhere.confirm_not_applied(doubt, "not sent", ann()).await.unwrap();
    }
}

/// A process that can open no lock file knows nothing of other workers, and fences none.
#[tokio::test]
async fn a_lack_of_descriptors_proves_nothing() {
    let place = Place::new().await;
    let id = place.stored(mail("bob")).await.id();
    let worker = child::begins_elsewhere(&place.file(), id);
    child::start("store::child::recovers_without_descriptors", &place.file()).join();
    assert!(!place.facts(id).await.iter().any(|fact| matches!(fact, CallFact::Parked { .. })));
    worker.kill();
}

/// A frozen process keeps its lock. A copy of its lock file is not locked, and proves nothing.
#[tokio::test]
async fn a_copied_lock_file_does_not_end_a_frozen_worker() {
    let place = Place::new().await;
    let id = place.stored(mail("bob")).await.id();
    let other = child::begins_elsewhere(&place.file(), id);
    other.stop();
    copy(&place.worker_files()[0]);
    let (_, reason) = refused(&place, place.doubt().await).await;
    assert_is!(reason, EffectError::WorkerUnknown { id: of } if *of == id);
    // Also in a copy of the whole folder.
    let elsewhere = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(place.folder()).unwrap() {
        let file = file.unwrap().path();
        std::fs::copy(&file, elsewhere.path().join(file.file_name().unwrap())).unwrap();
    }
    let copied = Store::sqlite(elsewhere.path().join("agent.db")).await.unwrap();
    let doubt = copied.in_doubt(id).await.unwrap();
    let refused = copied.confirm_not_applied(doubt, "not there", ann()).await.unwrap_err();
    assert_is!(refused.reason, EffectError::WorkerUnknown { id: of } if *of == id);
    other.kill();
}
