//! Resuming waiting machines (EX-7).

use machine::{
    Id,
    contract::execution::{Status, Waiting},
    store::{CommitError, LoadError},
    stored::VerifyError,
};
use machine_tests::actors::{graph_runner, tool_node};
use machine_tests::{
    assert_err,
    samples::{Ticket, asked, mail, read, ticket},
};

use crate::store::support::{Place, on_both};

on_both! {
    what_waits_goes_on,
    an_unknown_id_is_refused,
    the_id_of_another_machine_is_refused,
    what_does_not_wait_is_refused,
    what_has_ended_is_refused,
    what_is_in_doubt_is_refused,
    two_resumes_and_one_wins,
}

async fn refused(place: &Place, id: Id) -> LoadError {
    place.store.resume::<Waiting>(id).await.unwrap_err()
}

/// WAITING to RUNNING to COMPLETED, also through another store.
async fn what_waits_goes_on(place: Place) {
    let mut waiting = asked("Deploy?");
    place.store.create(&mut waiting).await.unwrap();
    let elsewhere = place.open_again().await;
    let waiting = elsewhere.resume::<Waiting>(waiting.id()).await.unwrap();
    assert_eq!(waiting.state().prompt, "yes or no?");
    let mut done = waiting.resume(graph_runner()).succeed("yes".to_owned(), graph_runner());
    elsewhere.commit(&mut done).await.unwrap();
    assert_eq!(place.status(done.id()).await, Status::Completed);
}

/// The checkpoint must exist.
async fn an_unknown_id_is_refused(place: Place) {
    let stranger = asked("Deploy?").id();
    let refused = Err::<(), _>(refused(&place, stranger).await);
    assert_err!(refused, LoadError::NotFound { id } if *id == stranger);
}

/// It must be a machine of the same kind.
async fn the_id_of_another_machine_is_refused(place: Place) {
    let mut other = Ticket::new().park();
    place.store.create(&mut other).await.unwrap();
    let refused = Err::<(), _>(refused(&place, other.id()).await);
    assert_err!(refused, LoadError::Unreadable(VerifyError::OtherMachine { found, .. })
        if found == "ticket");
    let _ = place.store.resume::<ticket::Waiting>(other.id()).await.unwrap();
}

/// It must be WAITING; the error names its state and the legal moves.
async fn what_does_not_wait_is_refused(place: Place) {
    let pending = place.stored(read("a.txt")).await;
    let error = refused(&place, pending.id()).await;
    let text = error.to_string();
    assert_err!(Err::<(), _>(error), LoadError::OtherState { expected: "WAITING", .. });
    assert!(text.contains("PENDING") && text.contains("start -> RUNNING"), "{text}");
}

/// EX-6: a terminal machine is refused.
async fn what_has_ended_is_refused(place: Place) {
    let mut done =
        place.stored(read("a.txt")).await.start(tool_node()).succeed("x".into(), tool_node());
    place.store.commit(&mut done).await.unwrap();
    let text = refused(&place, done.id()).await.to_string();
    assert!(text.contains("COMPLETED is terminal"), "{text}");
}

/// An execution in doubt must be settled before it can be resumed.
async fn what_is_in_doubt_is_refused(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    drop(permit);
    assert_eq!(place.recovered().await.len(), 1);
    let refused = Err::<(), _>(refused(&place, running.id()).await);
    assert_err!(refused, LoadError::InDoubt { id } if *id == running.id());
}

/// A resume writes nothing before the commit; the second of two commits conflicts.
async fn two_resumes_and_one_wins(place: Place) {
    let mut waiting = asked("Deploy?");
    place.store.create(&mut waiting).await.unwrap();
    let before = place.dump().await;
    let yes = place.store.resume::<Waiting>(waiting.id()).await.unwrap();
    let no = place.store.resume::<Waiting>(waiting.id()).await.unwrap();
    assert_eq!(place.dump().await, before);
    let mut yes = yes.resume(graph_runner());
    let mut no = no.cancel("no".to_owned(), graph_runner());
    place.store.commit(&mut yes).await.unwrap();
    assert_err!(place.store.commit(&mut no).await, CommitError::Conflict { .. });
}
