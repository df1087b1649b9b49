//! Single commits: atomic, by compare-and-set, and with everything that happened to the machine.

use machine::{
    contract::AnyExecution, contract::execution::Status, effects::EffectError, store::CommitError,
};
use machine_tests::{
    actors::{graph_runner, tool_node},
    assert_err,
    samples::{asked, read},
};

use crate::store::support::{Place, as_made, on_file};

on_file! {
    several_transitions_are_one_commit,
    the_second_of_two_commits_conflicts,
}

/// The machine comes back as it was, with its whole history.
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

    place.store.commit(&mut completed).await.unwrap();
    assert!(completed.journal().uncommitted().is_empty());
    assert_eq!(completed.journal().version(), 5);
    let entries = place.entries(completed.id()).await;
    assert!(entries.iter().all(|entry| entry.digest.is_some()));
    assert_eq!(as_made(entries), as_made(written));
    let AnyExecution::Completed(loaded) = place.store.load(completed.id()).await.unwrap() else {
        panic!("it was COMPLETED");
    };
    assert_eq!(loaded.state().result, "42 lines");
    assert_eq!(loaded.context(), completed.context());
    assert!(loaded.journal().uncommitted().is_empty());
    assert_eq!(loaded.journal().version(), 5);
    assert_eq!(loaded.journal().summary(), completed.journal().summary());
}

/// If two callers load and move the same machine, the second commit conflicts: it writes nothing
/// and leaves its machine unchanged.
async fn the_second_of_two_commits_conflicts(place: Place) {
    let id = place.created(asked("Deploy?")).await.id();
    let (first, second) = (place.open_again().await, place.open_again().await);
    let AnyExecution::Waiting(mine) = first.load(id).await.unwrap() else { panic!() };
    let AnyExecution::Waiting(theirs) = second.load(id).await.unwrap() else { panic!() };
    let mut mine = mine.resume(graph_runner()).succeed("yes".to_owned(), graph_runner());
    let mut theirs = theirs.cancel("no".to_owned(), graph_runner());
    first.commit(&mut mine).await.unwrap();
    let before = place.dump();
    for _ in 0..2 {
        let refused = second.commit(&mut theirs).await;
        assert_err!(refused, EffectError::Commit(CommitError::Conflict { id: of }) if *of == id);
        assert_eq!(theirs.journal().uncommitted().len(), 1);
        assert_eq!(theirs.journal().version(), 3);
        assert_eq!(theirs.state().reason, "no");
    }
    assert_eq!(place.dump(), before);
    assert_eq!(place.status(id).await, Status::Completed);
}
