//! Closing a store: everything is in the file, and every later call reports that it is closed.

use std::fmt::Debug;

use machine::{
    Id,
    contract::{AnyExecution, execution::Waiting},
    effects::{Change, EffectError, StateError},
    store::{LoadError, OpenOptions, Query, Unavailable},
    typed::Refused,
};
use machine_tests::actors::{ann, graph_runner, tool_node};
use machine_tests::samples::{Ticket, asked, mail, read};

use crate::store::support::{Place, applied, lines, on_file, pending};

on_file! {
    every_later_call_says_stopped,
    clones_are_closed_too,
    a_closed_store_returns_the_machine,
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

fn assert_stopped<T: Debug, E: Into<EffectError>>(call: &str, result: Result<T, E>) {
    match result.map_err(Into::into) {
        Err(EffectError::Unavailable(Unavailable::Stopped)) => {}
        Err(EffectError::Unsettled { source, .. })
            if matches!(&*source, EffectError::Unavailable(Unavailable::Stopped)) => {}
        other => panic!("`{call}` answers {other:?}"),
    }
}

fn assert_unreadable<T: Debug, E: Into<StateError>>(call: &str, result: Result<T, E>) {
    match result.map_err(Into::into) {
        Err(StateError::Load(LoadError::Unavailable(error @ Unavailable::Stopped))) => {
            assert!(error.to_string().contains("open it again"), "{error}");
        }
        other => panic!("`{call}` answers {other:?}"),
    }
}

async fn every_later_call_says_stopped(place: Place) {
    let store = &place.store;
    let question = place.created(asked("Deploy?")).await;
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

/// A receipt that a closed store does not take is not lost.
async fn a_closed_store_returns_the_machine(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    let id = running.id();
    let outcome = applied(permit, "250 queued").await;
    place.store.close().await.unwrap();
    let mut settle = Change::settle(running, outcome, tool_node());
    assert_stopped("batch", place.store.batch().change(&mut settle).write().await);
    let (running, outcome) = settle.finish().unwrap_err();
    let Err(Refused { machine: (running, outcome), reason }) =
        place.store.settle(running, outcome, tool_node()).await
    else {
        panic!("the store was closed");
    };
    assert!(reason.to_string().contains("250 queued"), "{reason}");
    assert_eq!((running.id(), running.journal().uncommitted().len()), (id, 0));
    let store = OpenOptions::new().sqlite(place.file()).await.unwrap();
    let _ = store.settle(running, outcome, tool_node()).await.unwrap();
}
