//! Machines that have ended can be deleted; the keys that they protect stay protected.

use std::{collections::BTreeSet, time::Duration};

use machine::{
    Id,
    actor::Actor,
    clock::{Clock, SystemClock},
    contract::AnyExecution,
    effects::EffectError,
    store::{CommitError, LoadError, Prune, Pruned, Query, Store},
    typed::Refused,
};
use machine_tests::{
    actors::{ann, graph_runner, tool_node},
    assert_err,
    samples::{AnyTicket, Ticket, asked, mail, pending_mail, read},
    stores::assert_intact,
};

use crate::store::{
    service::{in_flight, receipt},
    support::{Hand, Place, applied, begin, lines, on_file},
};

on_file! {
    ended_machines_are_pruned_and_their_keys_stay,
    kinds_states_and_ages_select,
    what_is_still_needed_is_kept,
    subscriptions_skip_what_was_pruned,
}

/// Everything that has ended by now.
pub(crate) fn everything() -> Prune {
    Prune::ended_for(Duration::ZERO)
}

pub(crate) async fn prune(store: &Store, what: &Prune) -> Pruned {
    let pruned = store.prune(what, ann()).await.unwrap();
    assert_eq!(pruned.problems, []);
    assert_intact(store).await;
    pruned
}

/// A machine that lives, so that it has the newest entry and the highest number.
pub(crate) async fn newest(place: &Place) -> Id {
    place.stored(read("newest.txt")).await.id()
}

pub(crate) async fn closed(store: &Store) -> Id {
    let mut ticket = Ticket::new();
    store.create(&mut ticket).await.unwrap();
    let mut closed = ticket.close("fixed".to_owned(), 1.5);
    store.commit(&mut closed).await.unwrap();
    closed.id()
}

pub(crate) async fn ids(store: &Store) -> BTreeSet<Id> {
    lines(store, &Query::new()).await.iter().map(|line| line.id).collect()
}

async fn ended_machines_are_pruned_and_their_keys_stay(place: Place) {
    let sent = place.done(mail("bob")).await.id();
    let ticket = closed(&place.store).await;
    let question = place.created(asked("Deploy?")).await;
    let last = newest(&place).await;
    let (before, position) = (place.assert_intact().await, place.store.position().await.unwrap());

    let pruned = place.store.prune(&everything(), ann()).await.unwrap();
    assert_eq!((pruned.machines, pruned.problems.len()), (2, 0));
    let report = place.assert_intact().await;
    assert_eq!((report.pruned, report.entries), (pruned.entries, before.entries - pruned.entries));
    assert_eq!(report.machines, before.machines - 2);
    assert_eq!(place.store.position().await.unwrap(), position);

    assert_eq!(ids(&place.store).await, BTreeSet::from([question.id(), last]));
    for id in [sent, ticket] {
        assert_err!(place.store.load::<AnyExecution>(id).await, LoadError::NotFound { .. });
        assert_err!(place.store.history(id).await, LoadError::NotFound { .. });
    }
    // A mail that was sent is not sent again.
    assert_err!(place.store.create(&mut pending_mail("bob")).await, EffectError::Commit(CommitError::AlreadyDone { by, .. }) if *by == sent);
    assert!(place.store.recover().await.unwrap().failed.is_empty());
    let record = place.store.operations(1, None).await.unwrap().items.remove(0).unwrap();
    let outcome = format!("done: 2 machines with {} entries", pruned.entries);
    assert_eq!(record.by, Actor::name(ann()).unwrap());
    assert_eq!((record.operation, record.outcome), ("prune".to_owned(), Some(outcome)));

    // The store continues to work, and so does the file when it is opened again.
    let place = place.reopened().await;
    let _ = place.done(mail("carol")).await;
    place.assert_intact().await;
}

async fn kinds_states_and_ages_select(place: Place) {
    let clock = Hand::at(SystemClock.now());
    let place = place.with_clock(&clock).await;
    let ticket = closed(&place.store).await;
    let sent = place.done(mail("bob")).await.id();
    let cancelled = place.stored(read("a.txt")).await;
    let cancelled = place.store.cancel(cancelled, "no need", tool_node()).await.unwrap().id();
    let last = newest(&place).await;
    let hour = Duration::from_hours(1);
    let nothing = Pruned::default();
    assert_eq!(prune(&place.store, &Prune::ended_for(hour)).await, nothing);
    clock.advance(3_600_000 + 60_000);
    let old = Prune::ended_for(hour);
    let of = |kind: &str| Prune { machine: Some(kind.to_owned()), ..old.clone() };
    assert_eq!(prune(&place.store, &of("order")).await, nothing);
    let waiting = Prune { statuses: vec!["waiting".to_owned()], ..of("ticket") };
    assert_eq!(prune(&place.store, &waiting).await, nothing);
    assert_eq!(prune(&place.store, &of("ticket")).await.machines, 1);
    assert_eq!(ids(&place.store).await, BTreeSet::from([sent, cancelled, last]));
    let ended = Prune { statuses: vec!["cancelled".to_owned()], ..old.clone() };
    assert_eq!(prune(&place.store, &ended).await.machines, 1);
    assert_eq!(ids(&place.store).await, BTreeSet::from([sent, last]));
    assert_eq!(prune(&place.store, &old).await.machines, 1);
    assert_err!(place.store.load::<AnyTicket>(ticket).await, LoadError::NotFound { .. });
}

/// The gate of an execution that has not ended, and an execution that an override has ended while
/// its worker may still answer. When it has answered, a person has to ask for it.
async fn what_is_still_needed_is_kept(place: Place) {
    let (gate, planned) = place.asked(mail("ann")).await;
    let _ = machine_tests::approve(&place.store, gate, ann()).await.unwrap();
    let (running, permit) = place.begun(mail("bob")).await;
    let call = in_flight(permit).await;
    let id = running.id();
    let doubt = place.open_again().await.fence(id, "too slow", graph_runner()).await.unwrap();
    let _ = place.store.override_not_applied(doubt, "I pulled the plug", ann()).await.unwrap();
    newest(&place).await;
    let prunes = async |what: &Prune| prune(&place.store, what).await.machines;
    assert_eq!(prunes(&everything()).await, 0);

    // Its late receipt finds it.
    let outcome = call.answer(receipt("250 queued")).await;
    let settled = place.store.settle(running, outcome, tool_node()).await;
    assert_err!(settled, Refused { reason: EffectError::Fenced { .. }, .. });
    assert!(place.view(id).await.has_side_effects);
    newest(&place).await;
    assert_eq!(prunes(&everything()).await, 0);
    assert_eq!(prunes(&Prune { contradicted: true, ..everything() }).await, 1);
    assert_err!(place.store.create(&mut pending_mail("bob")).await, EffectError::Commit(CommitError::AlreadyDone { by, .. }) if *by == id);

    // The approval still counts.
    let (running, permit) = begin(&place.store, place.pending(planned.id()).await).await.unwrap();
    let outcome = applied(permit, "sent").await;
    let _ = place.settled(running, outcome).await;
    newest(&place).await;
    assert_eq!(prunes(&everything()).await, 2);
}

async fn subscriptions_skip_what_was_pruned(place: Place) {
    let first = newest(&place).await;
    closed(&place.store).await;
    let mut all = place.store.subscribe(None).await.unwrap();
    assert_eq!(all.next().await.unwrap().id, first);
    let mut middle = place.store.subscribe(Some("1.2".parse().unwrap())).await.unwrap();
    let last = newest(&place).await;
    assert_eq!(prune(&place.store, &everything()).await.machines, 1);
    let mut late = place.store.subscribe(None).await.unwrap();
    for id in [first, last] {
        assert_eq!(late.next().await.unwrap().id, id);
    }
    assert_eq!(middle.next().await.unwrap().id, last);
    let next = closed(&place.store).await;
    for subscription in [&mut middle, &mut late] {
        let committed = subscription.next().await.unwrap();
        assert_eq!((committed.id, committed.position), (next, "1.5".parse().unwrap()));
    }
}
