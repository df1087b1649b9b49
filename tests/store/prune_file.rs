//! Pruning a file: what an edit cannot make up, other processes, and crashes.

use std::path::PathBuf;

use machine::{
    effects::EffectError,
    store::{CommitError, OpenOptions, Prune, Query, Store},
};
use machine_tests::{
    STUCK,
    actors::ann,
    assert_err,
    process::{Act, Process, orders},
    samples::{mail, pending_mail},
};

use crate::store::{
    child::{WRITTEN, writes_elsewhere},
    prune::{closed, everything, ids, newest, prune},
    support::{Place, lines},
};

/// A machine that fails verification stays, for diagnosis.
#[tokio::test]
async fn a_changed_machine_is_reported_and_kept() {
    let place = Place::new().await;
    let (broken, sound) = (closed(&place.store).await, closed(&place.store).await);
    newest(&place).await;
    place.edit("UPDATE journal SET body = '{}' WHERE instance = ?2 AND number = 1", broken);
    let pruned = place.store.prune(&everything(), ann()).await.unwrap();
    assert_eq!((pruned.machines, pruned.problems.len()), (1, 1));
    assert_eq!(pruned.problems[0].id, Some(broken));
    assert!(ids(&place.store).await.contains(&broken) && !ids(&place.store).await.contains(&sound));
}

/// The file refuses deletions that are not prunings, and shows those that went around it.
#[tokio::test]
async fn pruned_history_cannot_be_forged() {
    let place = Place::with(OpenOptions::new().key([7; 32])).await;
    let (first, second) = (closed(&place.store).await, closed(&place.store).await);
    newest(&place).await;
    let one = Prune { statuses: vec!["closed".to_owned()], ..everything() };
    let raw = place.raw();
    for sql in [
        "DELETE FROM journal WHERE seq = 1",
        "DELETE FROM instance WHERE no = 1",
        "DELETE FROM context WHERE instance = 1",
    ] {
        assert!(raw.execute(sql, []).is_err(), "{sql}");
    }
    assert_eq!(place.store.prune(&one, ann()).await.unwrap().machines, 2);
    place.assert_intact().await;
    for sql in ["DELETE FROM pruned", "UPDATE pruned SET seq = 9 WHERE seq = 1"] {
        assert!(raw.execute(sql, []).is_err(), "{sql}");
    }
    place.store.close().await.unwrap();
    for sql in [
        "DELETE FROM pruned WHERE seq = 2",
        "UPDATE pruned SET chain = NULL WHERE seq = 2",
        "UPDATE pruned SET digest = zeroblob(32) WHERE seq = 2",
        // A deletion that is called a pruning.
        "INSERT INTO pruned (seq, digest, chain, opened, seal)
         SELECT seq, digest, chain, 0, zeroblob(32) FROM journal WHERE seq = 5;
         DELETE FROM journal WHERE seq = 5; DELETE FROM instance",
    ] {
        assert!(!place.problems_after(sql).await.is_empty(), "{sql}");
    }
    assert_ne!(first, second);
}

/// A pruned machine has no journal that says what its attempt was.
#[tokio::test]
async fn an_attempt_of_a_pruned_machine_is_missed() {
    for key in [None, Some([7; 32])] {
        let place = Place::with(key.into_iter().fold(OpenOptions::new(), OpenOptions::key)).await;
        for to in ["ann", "bob"] {
            let _ = place.done(mail(to)).await;
        }
        newest(&place).await;
        // The newest attempt of all, so that its number leaves no gap.
        let _ = place.done(mail("carl")).await;
        newest(&place).await;
        assert_eq!(prune(&place.store, &everything()).await.machines, 3);
        place.store.close().await.unwrap();
        for (sql, says) in [
            ("DELETE FROM attempt WHERE no = 1", "before number 2 is missing"),
            ("DELETE FROM attempt WHERE no = 3", "opened is missing"),
            ("DELETE FROM attempt", "opened is missing"),
            (
                "DELETE FROM attempt WHERE no = 1; UPDATE attempt SET no = no - 1",
                "the pruned entry 4 opened is missing",
            ),
            ("UPDATE attempt SET no = 9 WHERE no = 3", "before number 9 is missing"),
            (
                "UPDATE attempt SET no = 9 WHERE no = 1; UPDATE attempt SET no = 1 WHERE no = 2;
                 UPDATE attempt SET no = 2 WHERE no = 9",
                "not at its recorded position",
            ),
            ("UPDATE pruned SET opened = 0; DELETE FROM attempt", "the seal does not match"),
            ("UPDATE pruned SET opened = 2", "its column `opened` is neither 0 nor 1"),
        ] {
            let problems = place.problems_after(sql).await;
            assert!(problems.iter().any(|it| it.reason.contains(says)), "{sql}: {problems:?}");
        }
    }
}

/// While other processes write, several prune.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_continue_during_a_prune() {
    let place = Place::new().await;
    for _ in 0..200 {
        closed(&place.store).await;
    }
    let mut writers = [(); 2].map(|()| writes_elsewhere(&place.file()));
    writers.iter_mut().for_each(Process::go);
    let prunes: Vec<_> = (0..3)
        .map(|_| {
            let file = place.file();
            tokio::spawn(async move {
                let patient = OpenOptions::new().busy_timeout(STUCK);
                let store = patient.sqlite(file).await.unwrap();
                let pruned = store.prune(&everything(), ann()).await.unwrap();
                assert_eq!(pruned.problems, []);
                pruned.machines
            })
        })
        .collect();
    let mut machines = 0;
    while !prunes.iter().all(tokio::task::JoinHandle::is_finished) {
        place.assert_intact().await;
    }
    for prune in prunes {
        machines += prune.await.unwrap();
    }
    writers.into_iter().for_each(Process::join);
    newest(&place).await;
    machines += prune(&place.store, &everything()).await.machines;
    assert_eq!(machines, 200);
    assert_eq!(ids(&place.store).await.len(), 2 * WRITTEN + 1);
}

/// A process is killed in the middle, again and again: each machine is there as a whole or not at
/// all.
#[tokio::test]
async fn a_killed_pruning_leaves_no_half() {
    let place = Place::new().await;
    let sent = place.done(mail("bob")).await.id();
    for _ in 0..150 {
        closed(&place.store).await;
    }
    newest(&place).await;
    let before = place.assert_intact().await;
    let mut killed = 0;
    for (point, passed) in [
        ("store-pruned-line", 0),
        ("store-prune", 2),
        ("store-prune", 199),
        ("store-commit", 0),
        ("store-committed", 0),
        ("store-prune", 29),
        ("store-committed", 0),
        ("store-commit", 0),
    ] {
        let orders = (place.file(), point, passed);
        let mut other = Process::start("store::prune_file::prunes_and_dies", &orders);
        killed += usize::from(!other.ended().success());
        let report = place.assert_intact().await;
        assert_eq!(report.entries + report.pruned, before.entries, "{point} {passed}");
        for line in lines(&place.store, &Query::new()).await {
            assert_eq!(place.entries(line.id).await.len() as u64, line.version);
        }
    }
    assert!(killed >= 6, "{killed}");
    prune(&place.store, &everything()).await;
    assert_eq!(ids(&place.store).await.len(), 1);
    assert_err!(place.store.create(&mut pending_mail("bob")).await, EffectError::Commit(CommitError::AlreadyDone { by, .. }) if *by == sent);
}

#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn prunes_and_dies() {
    let (file, point, before): (PathBuf, String, usize) = orders();
    Act::Kill.at(&point, before);
    let store = Store::sqlite(file).await.unwrap();
    store.prune(&everything(), ann()).await.unwrap();
}
