//! Commits are atomic and use compare-and-set.

use machine::{
    actor::{GraphRunner, ToolNode},
    contract::{AnyExecution, execution::Status},
    store::StoreError,
};
use machine_tests::{
    assert_err,
    samples::{Ticket, asked, read},
};

use crate::support::Place;

/// Several transitions go into one commit.
#[tokio::test]
async fn several_transitions_are_one_commit() {
    let place = Place::new();
    let pending = place.stored(read("a.txt")).await;
    let mut completed = pending
        .start(&ToolNode)
        .suspend("which encoding?".to_owned(), &ToolNode)
        .resume(&GraphRunner)
        .succeed("42 lines".to_owned(), &ToolNode);
    assert_eq!(completed.journal().uncommitted().len(), 4);
    assert_eq!(place.status(completed.id()).await, Status::Pending);

    place.store.commit(&mut completed).await.unwrap();
    assert!(completed.journal().uncommitted().is_empty());
    assert_eq!(completed.journal().version(), 5);
    let AnyExecution::Completed(loaded) = place.store.load(completed.id()).await.unwrap() else {
        panic!("it was COMPLETED");
    };
    assert_eq!(loaded.state().result, "42 lines");
    assert_eq!(loaded.journal().entries(), completed.journal().entries());
}

/// A commit without anything new writes nothing.
#[tokio::test]
async fn an_empty_commit_writes_nothing() {
    let place = Place::new();
    let mut pending = place.stored(read("a.txt")).await;
    let before = place.dump();
    place.store.commit(&mut pending).await.unwrap();
    assert_eq!(place.dump(), before);
}

/// If two callers load and move the same machine, the second commit conflicts: it writes nothing
/// and leaves its machine unchanged.
#[tokio::test]
async fn the_second_of_two_commits_conflicts() {
    let place = Place::new();
    let mut waiting = asked("Deploy?");
    place.store.create(&mut waiting).await.unwrap();
    let id = waiting.id();
    let (first, second) = (place.open_again(), place.open_again());

    let AnyExecution::Waiting(mine) = first.load(id).await.unwrap() else { panic!() };
    let AnyExecution::Waiting(theirs) = second.load(id).await.unwrap() else { panic!() };
    let mut mine = mine.resume(&GraphRunner).succeed("yes".to_owned(), &GraphRunner);
    let mut theirs = theirs.cancel("no".to_owned(), &GraphRunner);
    first.commit(&mut mine).await.unwrap();
    let before = place.dump();

    for _ in 0..2 {
        let refused = second.commit(&mut theirs).await;
        assert_err!(refused, StoreError::Conflict { id: of } if *of == id);
        assert_eq!(theirs.journal().uncommitted().len(), 1);
        assert_eq!(theirs.journal().version(), 3);
        assert_eq!(theirs.state().reason, "no");
    }
    assert_eq!(place.dump(), before);
    assert_eq!(place.status(id).await, Status::Completed);
}

/// The same holds if both moves are the same.
#[tokio::test]
async fn the_same_move_twice_conflicts_too() {
    let place = Place::new();
    let id = place.stored(read("a.txt")).await.id();
    let mut mine = place.pending(id).await.start(&ToolNode);
    let mut theirs = place.pending(id).await.start(&ToolNode);
    place.store.commit(&mut mine).await.unwrap();
    assert_err!(place.store.commit(&mut theirs).await, StoreError::Conflict { .. });
}

/// A machine of another store is not found here.
#[tokio::test]
async fn a_stranger_is_not_found() {
    let (place, elsewhere) = (Place::new(), Place::new());
    let mut ticket = Ticket::new();
    elsewhere.store.create(&mut ticket).await.unwrap();
    let mut ticket = ticket.park();
    assert_err!(place.store.commit(&mut ticket).await, StoreError::NotFound { .. });
    assert_eq!(ticket.journal().uncommitted().len(), 1);
    elsewhere.store.commit(&mut ticket).await.unwrap();
}

/// Clones share the same store.
#[tokio::test]
async fn clones_share_the_store() {
    let place = Place::new();
    let clone = place.store.clone();
    let mut ticket = Ticket::new();
    clone.create(&mut ticket).await.unwrap();
    drop(clone);
    assert_eq!(place.store.list(None).await.unwrap()[0].id, ticket.id());
}
