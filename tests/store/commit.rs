//! Commits are atomic and use compare-and-set.

use machine::{
    contract::{AnyExecution, execution::Status},
    store::{CommitError, Query},
};
use machine_tests::actors::{graph_runner, tool_node};
use machine_tests::{
    assert_err,
    samples::{Ticket, asked, read},
};

use crate::store::support::{Place, on_both, without_digests};

on_both! {
    several_transitions_are_one_commit,
    an_empty_commit_writes_nothing,
    the_second_of_two_commits_conflicts,
    the_same_move_twice_conflicts_too,
    a_machine_of_another_store_is_refused,
    clones_share_the_store,
}

/// Several transitions go into one commit.
async fn several_transitions_are_one_commit(place: Place) {
    let pending = place.stored(read("a.txt")).await;
    let mut completed = pending
        .start(tool_node())
        .suspend("which encoding?".to_owned(), tool_node())
        .resume(graph_runner())
        .succeed("42 lines".to_owned(), tool_node());
    assert_eq!(completed.journal().uncommitted().len(), 4);
    assert_eq!(place.status(completed.id()).await, Status::Pending);
    let mut written = place.entries(completed.id()).await;
    written.extend_from_slice(completed.journal().uncommitted());
    let written = without_digests(written);

    place.store.commit(&mut completed).await.unwrap();
    assert!(completed.journal().uncommitted().is_empty());
    assert_eq!(completed.journal().version(), 5);
    let entries = place.entries(completed.id()).await;
    assert_eq!(without_digests(entries), written);
    let AnyExecution::Completed(loaded) = place.store.load(completed.id()).await.unwrap() else {
        panic!("it was COMPLETED");
    };
    assert_eq!(loaded.state().result, "42 lines");
    assert_eq!(loaded.journal().version(), 5);
    assert_eq!(loaded.journal().summary(), completed.journal().summary());
}

/// A commit without anything new writes nothing.
async fn an_empty_commit_writes_nothing(place: Place) {
    let mut pending = place.stored(read("a.txt")).await;
    let before = place.dump().await;
    place.store.commit(&mut pending).await.unwrap();
    assert_eq!(place.dump().await, before);
}

/// If two callers load and move the same machine, the second commit conflicts: it writes nothing
/// and leaves its machine unchanged.
async fn the_second_of_two_commits_conflicts(place: Place) {
    let mut waiting = asked("Deploy?");
    place.store.create(&mut waiting).await.unwrap();
    let id = waiting.id();
    let (first, second) = (place.open_again().await, place.open_again().await);

    let AnyExecution::Waiting(mine) = first.load(id).await.unwrap() else { panic!() };
    let AnyExecution::Waiting(theirs) = second.load(id).await.unwrap() else { panic!() };
    let mut mine = mine.resume(graph_runner()).succeed("yes".to_owned(), graph_runner());
    let mut theirs = theirs.cancel("no".to_owned(), graph_runner());
    first.commit(&mut mine).await.unwrap();
    let before = place.dump().await;

    for _ in 0..2 {
        let refused = second.commit(&mut theirs).await;
        assert_err!(refused, CommitError::Conflict { id: of } if *of == id);
        assert_eq!(theirs.journal().uncommitted().len(), 1);
        assert_eq!(theirs.journal().version(), 3);
        assert_eq!(theirs.state().reason, "no");
    }
    assert_eq!(place.dump().await, before);
    assert_eq!(place.status(id).await, Status::Completed);
}

/// Identical moves conflict, too.
async fn the_same_move_twice_conflicts_too(place: Place) {
    let id = place.stored(read("a.txt")).await.id();
    let mut mine = place.pending(id).await.start(tool_node());
    let mut theirs = place.pending(id).await.start(tool_node());
    place.store.commit(&mut mine).await.unwrap();
    assert_err!(place.store.commit(&mut theirs).await, CommitError::Conflict { .. });
}

/// A machine of another store is refused: it may be there too, with another history.
async fn a_machine_of_another_store_is_refused(place: Place) {
    let elsewhere = place.another().await;
    let mut ticket = Ticket::new();
    elsewhere.store.create(&mut ticket).await.unwrap();
    let mut ticket = ticket.park();
    let refused = place.store.commit(&mut ticket).await;
    assert_err!(refused, CommitError::OtherStore { id } if *id == ticket.id());
    assert_eq!(ticket.journal().uncommitted().len(), 1);
    elsewhere.store.commit(&mut ticket).await.unwrap();
}

/// Clones share the same store.
async fn clones_share_the_store(place: Place) {
    let clone = place.store.clone();
    let mut ticket = Ticket::new();
    clone.create(&mut ticket).await.unwrap();
    drop(clone);
    assert_eq!(place.lines(&Query::new()).await[0].id, ticket.id());
}
