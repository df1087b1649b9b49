//! Storing new machines.

use machine::{
    actor::ToolNode,
    contract::{AnyExecution, Execution},
    erased::Durable,
    store::StoreError,
};
use machine_tests::{
    assert_err,
    samples::{AnyTicket, Ticket, asked, mail, pending_mail, read},
};

use crate::support::Place;

/// A created machine loads with its whole history.
#[tokio::test]
async fn a_machine_comes_back_as_it_was() {
    let place = Place::new();
    let mut waiting = asked("Deploy?");
    place.store.create(&mut waiting).await.unwrap();
    assert_eq!(waiting.journal().version(), 3);
    assert!(waiting.journal().uncommitted().is_empty());

    let AnyExecution::Waiting(loaded) = place.store.load(waiting.id()).await.unwrap() else {
        panic!("it was WAITING");
    };
    assert_eq!(loaded.state(), waiting.state());
    assert_eq!(loaded.context(), waiting.context());
    assert_eq!(loaded.journal().entries(), waiting.journal().entries());
    assert_eq!(loaded.journal().version(), 3);
}

/// A user-defined machine without context and actors can be stored too.
#[tokio::test]
async fn any_durable_machine_is_stored() {
    let place = Place::new();
    let mut ticket = Ticket::new().park().close("wontfix".to_owned(), 0.1 + 0.2);
    place.store.create(&mut ticket).await.unwrap();
    let AnyTicket::Closed(loaded) = place.store.load(ticket.id()).await.unwrap() else {
        panic!("it was CLOSED");
    };
    assert_eq!(loaded.state(), ticket.state());
}

/// Every way to create a machine twice is refused.
#[tokio::test]
async fn a_machine_is_created_once() {
    let place = Place::new();
    let mut pending = Execution::new(read("a.txt"));
    let twin = machine_tests::forge::claim(&pending);
    place.store.create(&mut pending).await.unwrap();
    let before = place.dump();

    assert_err!(place.store.create(&mut pending).await, StoreError::AlreadyStored { .. });
    let mut twin: AnyExecution = twin.verify().unwrap();
    assert_err!(place.store.create(&mut twin).await, StoreError::AlreadyStored { .. });
    assert_eq!(twin.journal().version(), 0);
    assert_eq!(place.dump(), before);
}

/// EX-5: `create_all` stores all machines or, on an error, none, and leaves them unchanged.
#[tokio::test]
async fn create_all_is_all_or_nothing() {
    let place = Place::new();
    let _ = place.done(mail("bob")).await;
    let before = place.dump();
    let mut first = Execution::new(read("a.txt"));
    let mut refused = pending_mail("bob");
    let mut last = Ticket::new();

    let all: &mut [&mut dyn Durable] = &mut [&mut first, &mut refused, &mut last];
    assert_err!(place.store.create_all(all).await, StoreError::AlreadyDone { .. });
    assert_eq!(place.dump(), before);
    assert_eq!([first.journal().version(), last.journal().version()], [0, 0]);

    let all: &mut [&mut dyn Durable] = &mut [&mut first, &mut last];
    place.store.create_all(all).await.unwrap();
    assert_eq!([first.journal().version(), last.journal().version()], [1, 1]);
    assert_eq!(place.store.list(None).await.unwrap().len(), 3);
}

/// A machine that was never stored cannot be committed or begun.
#[tokio::test]
async fn what_was_never_stored_is_refused() {
    let place = Place::new();
    let mut running = Execution::new(read("a.txt")).start(&ToolNode);
    assert_err!(place.store.commit(&mut running).await, StoreError::NeverStored { .. });
    let begun = place.store.begin(pending_mail("bob"), &ToolNode).await;
    assert_err!(begun, StoreError::NeverStored { .. });
    assert_eq!(place.store.list(None).await.unwrap(), []);
}

/// `list` returns the machines of a session, or all.
#[tokio::test]
async fn lists_tell_sessions_apart() {
    let place = Place::new();
    let in_session = place.stored(read("a.txt").session("s1")).await;
    let _ = place.stored(read("b.txt").session("s2")).await;
    let _ = place.stored(read("c.txt")).await;

    let listed = place.store.list(Some("s1")).await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].id, in_session.id());
    assert_eq!((listed[0].machine.as_str(), listed[0].status.as_str()), ("execution", "pending"));
    assert_eq!(place.store.list(Some("other")).await.unwrap(), []);
    assert_eq!(place.store.list(None).await.unwrap().len(), 3);
}
