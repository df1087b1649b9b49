//! Storing new machines.

use machine::{
    contract::{AnyExecution, Execution},
    store::{CommitError, Query},
    typed::Refused,
};
use machine_tests::actors::tool_node;
use machine_tests::{
    assert_err,
    samples::{AnyTicket, Ticket, asked, mail, pending_mail, read},
};

use crate::store::support::{Place, on_both, without_digests};

on_both! {
    a_machine_comes_back_as_it_was,
    any_durable_machine_is_stored,
    a_machine_is_created_once,
    creating_several_is_all_or_nothing,
    what_was_never_stored_is_refused,
    lists_tell_sessions_apart,
}

/// A created machine loads with its whole history.
async fn a_machine_comes_back_as_it_was(place: Place) {
    let mut waiting = asked("Deploy?");
    let written = waiting.journal().uncommitted().to_vec();
    place.store.create(&mut waiting).await.unwrap();
    assert_eq!(waiting.journal().version(), 3);
    assert!(waiting.journal().uncommitted().is_empty());

    let AnyExecution::Waiting(loaded) = place.store.load(waiting.id()).await.unwrap() else {
        panic!("it was WAITING");
    };
    assert_eq!(loaded.state(), waiting.state());
    assert_eq!(loaded.context(), waiting.context());
    assert_eq!(loaded.journal().summary(), waiting.journal().summary());
    assert_eq!(loaded.journal().version(), 3);
    assert!(loaded.journal().uncommitted().is_empty());
    let entries = place.entries(waiting.id()).await;
    assert!(entries.iter().all(|entry| entry.digest.is_some()));
    assert_eq!(without_digests(entries), written);
}

/// A user-defined machine without context and actors can be stored too.
async fn any_durable_machine_is_stored(place: Place) {
    let mut ticket = Ticket::new().park().close("wontfix".to_owned(), 0.1 + 0.2);
    place.store.create(&mut ticket).await.unwrap();
    let AnyTicket::Closed(loaded) = place.store.load(ticket.id()).await.unwrap() else {
        panic!("it was CLOSED");
    };
    assert_eq!(loaded.state(), ticket.state());
}

/// Every way to create a machine twice is refused.
async fn a_machine_is_created_once(place: Place) {
    let mut pending = Execution::new(read("a.txt"));
    let twin = machine_tests::forge::claim(&pending);
    place.store.create(&mut pending).await.unwrap();
    let before = place.dump().await;

    assert_err!(place.store.create(&mut pending).await, CommitError::AlreadyStored { .. });
    let mut twin: AnyExecution = twin.verify().unwrap();
    assert_err!(place.store.create(&mut twin).await, CommitError::AlreadyStored { .. });
    assert_eq!(twin.journal().version(), 0);
    assert_eq!(place.dump().await, before);
}

/// EX-5: a batch stores all machines or, on an error, none, and leaves them unchanged.
async fn creating_several_is_all_or_nothing(place: Place) {
    let done = place.done(mail("bob")).await.id();
    let before = place.dump().await;
    let mut first = Execution::new(read("a.txt"));
    let mut refused = pending_mail("bob");
    let mut last = Ticket::new();

    let batch = place.store.batch().create(&mut first).create(&mut refused).create(&mut last);
    let written = batch.write().await;
    assert_err!(written, CommitError::AlreadyDone { id, by } if *id == refused.id() && *by == done);
    assert_eq!(place.dump().await, before);
    assert_eq!([first.journal().version(), last.journal().version()], [0, 0]);

    place.store.batch().create(&mut first).create(&mut last).write().await.unwrap();
    assert_eq!([first.journal().version(), last.journal().version()], [1, 1]);
    assert_eq!(place.lines(&Query::new()).await.len(), 3);
}

/// A machine that was never stored cannot be committed or begun.
async fn what_was_never_stored_is_refused(place: Place) {
    let mut running = Execution::new(read("a.txt")).start(tool_node());
    assert_err!(place.store.commit(&mut running).await, CommitError::NeverStored { .. });
    let begun = place.store.begin(pending_mail("bob"), tool_node()).await;
    assert_err!(begun, Refused { reason: CommitError::NeverStored { .. }, .. });
    assert_eq!(place.lines(&Query::new()).await, []);
}

/// `list` returns the machines of a session, or all.
async fn lists_tell_sessions_apart(place: Place) {
    let in_session = place.stored(read("a.txt").session("s1")).await;
    let _ = place.stored(read("b.txt").session("s2")).await;
    let _ = place.stored(read("c.txt")).await;

    let listed = place.lines(&Query::new().session("s1")).await;
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].id, in_session.id());
    assert_eq!((listed[0].machine.as_str(), listed[0].status.as_str()), ("execution", "pending"));
    assert_eq!(place.lines(&Query::new().session("other")).await, []);
    assert_eq!(place.lines(&Query::new()).await.len(), 3);
}
