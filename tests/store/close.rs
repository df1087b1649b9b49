//! Closing a store: everything is in the file, and every later call says so.

use std::{fmt::Debug, time::Duration};

use machine::{
    Id,
    contract::{AnyExecution, execution::Waiting},
    effects::Settle,
    store::{CommitError, LoadError, OpenOptions, Query, Store},
    typed::Refused,
};
use machine_tests::actors::{ann, graph_runner, tool_node};
use machine_tests::{
    assert_err,
    samples::{Ticket, asked, mail, pending_mail, read},
};

use crate::store::support::{Place, applied, lines, on_both, pending};

on_both! {
    every_later_call_says_stopped,
    clones_are_closed_too,
    closing_again_is_no_error,
    what_was_queued_is_written,
    what_a_closed_store_refuses_comes_back,
}

/// The file alone has everything and can be copied.
#[tokio::test]
async fn the_file_alone_can_be_copied() {
    let place = Place::new().await;
    let mut ids = Vec::new();
    for number in 0..50 {
        ids.push(place.stored(read(&format!("{number}.txt"))).await.id());
    }
    let done = place.done(mail("bob")).await.id();
    place.store.close().await.unwrap();
    let names: Vec<_> =
        std::fs::read_dir(place.folder()).unwrap().map(|file| file.unwrap().file_name()).collect();
    // The lock file of a worker goes with the last handle.
    let others: Vec<_> =
        names.iter().filter(|name| !name.to_string_lossy().contains("-worker-")).collect();
    assert_eq!(others, ["agent.db"]);
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.db");
    std::fs::copy(place.file(), &copy).unwrap();
    let store = Store::sqlite(&copy).await.unwrap();
    for id in ids {
        let _ = pending(&store, id).await;
    }
    let mut again = pending_mail("bob");
    assert_err!(store.create(&mut again).await, CommitError::AlreadyDone { by, .. } if *by == done);
    assert!(store.verify_all(|_| {}).await.unwrap().is_clean());
}

/// Dropping the last handle does the same in the background.
#[tokio::test]
async fn a_dropped_store_folds_its_log_into_the_file() {
    let place = Place::new().await;
    let _ = place.done(mail("bob")).await;
    let log = place.folder().join("agent.db-wal");
    assert!(log.exists());
    let Place { store, folder, .. } = place;
    drop(store);
    let start = std::time::Instant::now();
    while log.exists() || folder.as_ref().unwrap().path().read_dir().unwrap().count() > 1 {
        assert!(start.elapsed() < Duration::from_secs(10), "the store does not close its file");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// While another store has the file open, nothing is lost; the log may stay.
#[tokio::test]
async fn closing_one_of_two_stores_leaves_the_other() {
    let place = Place::new().await;
    let other = place.open_again().await;
    let id = place.stored(read("a.txt")).await.id();
    let closed = place.store.close().await;
    if let Err(error) = closed {
        assert!(error.is_busy(), "{error}");
    }
    let mut running = pending(&other, id).await.start(tool_node());
    other.commit(&mut running).await.unwrap();
    assert_eq!(lines(&other, &Query::new()).await.len(), 1);
    other.close().await.unwrap();
    assert!(!place.folder().join("agent.db-wal").exists());
}

fn assert_stopped<T: Debug>(call: &str, result: Result<T, CommitError>) {
    match result {
        Err(CommitError::Unavailable(error)) if error.is_stopped() => {}
        Err(CommitError::Unsettled { source, .. }) if matches!(&*source, CommitError::Unavailable(error) if error.is_stopped()) =>
            {}
        other => panic!("`{call}` answers {other:?}"),
    }
}

fn assert_unreadable<T: Debug>(call: &str, result: Result<T, LoadError>) {
    match result {
        Err(LoadError::Unavailable(error)) if error.is_stopped() => {
            assert!(error.to_string().contains("open it again"), "{error}");
        }
        other => panic!("`{call}` answers {other:?}"),
    }
}

async fn every_later_call_says_stopped(place: Place) {
    let store = &place.store;
    let mut question = asked("Deploy?");
    store.create(&mut question).await.unwrap();
    let id: Id = question.id();
    let to_begin = place.stored(mail("ann")).await;
    let (running, permit) = place.begun(mail("bob")).await;
    let outcome = applied(permit, "sent").await;
    let (_parked, permit) = place.begun(mail("carl")).await;
    drop(permit);
    let doubt = place.recovered().await.pop().unwrap();
    let mut subscription = store.subscribe(None).await.unwrap();
    let mut moved = question.resume(graph_runner());
    store.close().await.unwrap();

    assert_unreadable("load", store.load::<AnyExecution>(id).await);
    assert_unreadable("load_all", store.load_all::<AnyExecution>(&Query::new()).await);
    assert_unreadable("resume", store.resume::<Waiting>(id).await);
    assert_unreadable("list", store.list(&Query::new()).await);
    assert_unreadable("history", store.history(id).await);
    assert_unreadable("json", store.json(id).await);
    assert_unreadable("export", store.export(id).await);
    assert_unreadable("in_doubt", store.in_doubt(id).await);
    assert_unreadable("verify", store.verify::<AnyExecution>(id).await);
    assert_unreadable("verify_all", store.verify_all(|_| {}).await);
    assert_unreadable("position", store.position().await);
    assert_unreadable("subscribe", store.subscribe(None).await);
    assert_unreadable("next", subscription.next().await);

    assert_stopped("create", store.create(&mut Ticket::new()).await);
    assert_stopped("commit", store.commit(&mut moved).await);
    assert_stopped("recover", store.recover().await);
    let begun = store.begin(to_begin, tool_node()).await.map_err(|refused| refused.reason);
    assert_stopped("begin", begun);
    let settled =
        store.settle(running, outcome, tool_node()).await.map_err(|refused| refused.reason);
    assert_stopped("settle", settled);
    let confirmed = store.confirm_applied(doubt, "it arrived", ann()).await;
    assert_stopped("confirm_applied", confirmed.map_err(|refused| refused.reason));
}

async fn clones_are_closed_too(place: Place) {
    let clone = place.store.clone();
    clone.close().await.unwrap();
    assert_stopped("create", place.store.create(&mut Ticket::new()).await);
    drop(clone);
    assert_unreadable("list", place.store.list(&Query::new()).await);
}

async fn closing_again_is_no_error(place: Place) {
    let (clone, other) = (place.store.clone(), place.store.clone());
    let (one, two) = tokio::join!(clone.close(), other.close());
    assert!(one.is_ok() && two.is_ok(), "{one:?} {two:?}");
    place.store.close().await.unwrap();
}

/// Calls that came before `close` are answered.
async fn what_was_queued_is_written(place: Place) {
    let mut tickets: Vec<_> = (0..20).map(|_| Ticket::new()).collect();
    let creating: Vec<_> = tickets
        .drain(..)
        .map(|mut ticket| {
            let store = place.store.clone();
            tokio::spawn(async move { store.create(&mut ticket).await.map(|()| ticket.id()) })
        })
        .collect();
    // All of them are queued now.
    tokio::task::yield_now().await;
    place.store.close().await.unwrap();
    for created in creating {
        created.await.unwrap().unwrap();
    }
}

/// A receipt that a closed store does not take is not lost.
async fn what_a_closed_store_refuses_comes_back(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    let id = running.id();
    let outcome = applied(permit, "250 queued").await;
    place.store.close().await.unwrap();
    let mut settle = Settle::new(running, outcome, tool_node());
    assert_stopped("batch", place.store.batch().settle(&mut settle).write().await);
    let (running, outcome) = settle.finish().unwrap_err();
    let Err(Refused { machine: (running, outcome), reason }) =
        place.store.settle(running, outcome, tool_node()).await
    else {
        panic!("the store was closed");
    };
    assert!(reason.to_string().contains("250 queued"), "{reason}");
    assert_eq!((running.id(), running.journal().uncommitted().len()), (id, 0));
    if place.is_file() {
        let store = OpenOptions::new().sqlite(place.file()).await.unwrap();
        let _ = store.settle(running, outcome, tool_node()).await.unwrap();
    }
}
