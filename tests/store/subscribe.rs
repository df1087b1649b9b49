//! A subscription returns every entry once, in order, from every process.

use std::{
    pin::Pin,
    task::Poll::{self, Ready},
    time::{Duration, Instant},
};

use machine::{
    Id,
    journal::Entry,
    store::{Committed, LoadError, Position, Store, Subscription, Unavailable},
};
use machine_tests::{
    STUCK,
    actors::tool_node,
    assert_err,
    samples::{Ticket, mail, read},
};

use crate::store::{
    child::{WRITTEN, writes_elsewhere},
    support::{Place, block_on, edit, on_file},
};

on_file! {
    it_starts_anywhere,
    it_waits_for_what_comes_later,
    a_position_that_the_store_does_not_have_is_refused,
    a_dropped_future_loses_nothing,
    closing_ends_the_wait,
    it_keeps_up_with_many_commits,
}

/// The next entries; fails if they do not come.
pub(super) async fn next(subscription: &mut Subscription, count: usize) -> Vec<Committed> {
    let mut entries = Vec::new();
    for _ in 0..count {
        let next = tokio::time::timeout(STUCK, subscription.next()).await;
        let next = next.unwrap_or_else(|_| panic!("only {} of {count} came", entries.len()));
        entries.push(next.unwrap());
    }
    entries
}

/// There was nothing more to come: what is written now is next.
async fn assert_quiet(store: &Store, subscription: &mut Subscription) {
    let mut ticket = Ticket::new();
    store.create(&mut ticket).await.unwrap();
    assert_eq!(next(subscription, 1).await[0].id, ticket.id());
}

/// Some commits of several machines; returns how many entries they have.
async fn filled(place: &Place) -> usize {
    let _ = place.done(mail("bob")).await;
    let mut parked = place.created(Ticket::new()).await.park();
    let mut running = place.stored(read("a.txt")).await.start(tool_node());
    place.store.batch().commit(&mut running).commit(&mut parked).write().await.unwrap();
    6 + 2 + 2
}

/// All histories, each by machine, as a store that is asked for them returns them.
async fn agree_with_histories(store: &Store, entries: &[Committed]) {
    let mut ids: Vec<Id> = entries.iter().map(|committed| committed.id).collect();
    ids.sort();
    ids.dedup();
    for id in ids {
        let of_machine = entries.iter().filter(|committed| committed.id == id);
        let of_machine: Vec<&Entry> = of_machine.map(|committed| &committed.entry).collect();
        let history = store.history(id).await.unwrap();
        assert_eq!(of_machine, history.entries.iter().collect::<Vec<_>>());
    }
}

fn sequence(position: Position) -> u64 {
    position.to_string().split_once('.').unwrap().1.parse().unwrap()
}

/// Everything comes once and in order, from the beginning and from every position, also if that was
/// text in between.
async fn it_starts_anywhere(place: Place) {
    let count = filled(&place).await;
    let mut subscription = place.store.subscribe(None).await.unwrap();
    let start = subscription.position();
    let all = next(&mut subscription, count).await;
    for (committed, expected) in all.iter().zip(1..) {
        assert_eq!(sequence(committed.position), expected);
    }
    let newest = place.store.position().await.unwrap();
    assert_eq!((all[count - 1].position, subscription.position()), (newest, newest));
    agree_with_histories(&place.store, &all).await;
    for skipped in 0..=count {
        let from = if skipped == 0 { start } else { all[skipped - 1].position };
        let from: Position = from.to_string().parse().unwrap();
        let mut subscription = place.store.subscribe(Some(from)).await.unwrap();
        assert_eq!(subscription.position(), from);
        assert_eq!(next(&mut subscription, count - skipped).await, all[skipped..]);
    }
    assert_quiet(&place.store, &mut subscription).await;
}

/// It waits before each commit.
async fn it_waits_for_what_comes_later(place: Place) {
    let mut subscription = place.store.subscribe(None).await.unwrap();
    for _ in 0..20 {
        let mut future = Box::pin(subscription.next());
        assert!(poll_once(future.as_mut()).await.is_pending());
        let id = place.created(Ticket::new()).await.id();
        let found = tokio::time::timeout(STUCK, future).await;
        assert_eq!(found.unwrap().unwrap().id, id);
    }
}

/// Beyond the newest entry, or of another generation: the store was replaced by an older copy.
async fn a_position_that_the_store_does_not_have_is_refused(place: Place) {
    let count = filled(&place).await;
    let newest = place.store.position().await.unwrap();
    let generation: u64 = newest.to_string().split_once('.').unwrap().0.parse().unwrap();
    for from in [
        format!("{generation}.{}", count + 1),
        format!("{generation}.{}", u64::MAX),
        format!("{}.0", generation + 1),
        format!("{}.{count}", generation + 1),
        format!("{}.0", generation.wrapping_sub(1)),
        format!("{}.1", u64::MAX),
    ] {
        let from: Position = from.parse().unwrap();
        let refused = place.store.subscribe(Some(from)).await;
        assert_err!(&refused, LoadError::UnknownPosition { position, newest: known }
            if *position == from && *known == newest);
        assert!(refused.unwrap_err().to_string().contains(&newest.to_string()));
    }
    let mut at_the_end = place.store.subscribe(Some(newest)).await.unwrap();
    assert_quiet(&place.store, &mut at_the_end).await;
}

/// A future is dropped before it is polled, while it waits, or while it reads.
async fn a_dropped_future_loses_nothing(place: Place) {
    let count = filled(&place).await;
    let mut expected = place.store.subscribe(None).await.unwrap();
    let expected = next(&mut expected, count).await;
    let mut subscription = place.store.subscribe(None).await.unwrap();
    let mut entries = Vec::new();
    let (mut polls, start) = (0, Instant::now());
    while entries.len() < count {
        let pause = Duration::from_micros(200);
        entries.extend(polled(&mut subscription, polls % 4, pause).await);
        polls += 1;
        assert!(start.elapsed() < STUCK, "{} of {count} came", entries.len());
    }
    assert_eq!(entries, expected);
    assert_quiet(&place.store, &mut subscription).await;
}

async fn poll_once<F: Future>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    std::future::poll_fn(|context| Ready(future.as_mut().poll(context))).await
}

/// A future that is given up after some polls; sometimes it is ready by then.
async fn polled(
    subscription: &mut Subscription,
    polls: usize,
    pause: Duration,
) -> Option<Committed> {
    let mut future = Box::pin(subscription.next());
    for _ in 0..polls {
        if let Ready(committed) = poll_once(future.as_mut()).await {
            return Some(committed.unwrap());
        }
        tokio::time::sleep(pause).await;
    }
    None
}

/// A waiting subscription learns that the store was closed, instead of waiting forever.
async fn closing_ends_the_wait(place: Place) {
    let mut subscription = place.store.subscribe(None).await.unwrap();
    let mut waiting = Box::pin(subscription.next());
    assert!(poll_once(waiting.as_mut()).await.is_pending());
    place.store.close().await.unwrap();
    let ended = tokio::time::timeout(STUCK, waiting).await;
    let ended = ended.expect("it still waits for a store that was closed");
    assert_err!(ended, LoadError::Unavailable(Unavailable::Stopped));
}

/// More entries than are read at once, while more are written.
async fn it_keeps_up_with_many_commits(place: Place) {
    let mut subscription = place.store.subscribe(None).await.unwrap();
    let store = place.store.clone();
    let writer = std::thread::spawn(move || {
        block_on(async {
            for _ in 0..30 {
                let mut tickets: Vec<_> = (0..30).map(|_| Ticket::new()).collect();
                let batch =
                    tickets.iter_mut().fold(store.batch(), |batch, ticket| batch.create(ticket));
                batch.write().await.unwrap();
            }
        });
    });
    let entries = next(&mut subscription, 900).await;
    writer.join().unwrap();
    assert_quiet(&place.store, &mut subscription).await;
    let mut ids: Vec<_> = entries.iter().map(|committed| committed.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 900);
}

/// A store that was just opened reads each definition when the first entry of it comes.
#[tokio::test]
async fn a_future_that_is_dropped_while_a_definition_is_read_loses_nothing() {
    let place = Place::new().await;
    place.store.create(&mut Ticket::new()).await.unwrap();
    let _ = place.stored(read("a.txt")).await;
    for polls in 1..6 {
        let other = place.open_again().await;
        let mut subscription = other.subscribe(None).await.unwrap();
        let mut found = polled(&mut subscription, polls, Duration::from_millis(5)).await;
        if found.is_none() {
            found = next(&mut subscription, 1).await.pop();
        }
        assert_eq!(sequence(found.unwrap().position), 1, "dropped after {polls} polls");
    }
}

/// Another process, another store of this process, and this one write.
#[tokio::test]
async fn others_are_seen() {
    let place = Place::new().await;
    let store = place.open_again().await;
    let mut other = writes_elsewhere(&place.file());
    let mut subscriptions =
        [place.store.subscribe(None).await.unwrap(), store.subscribe(None).await.unwrap()];
    other.go();
    for round in 0..20 {
        let store = if round % 2 == 0 { &place.store } else { &store };
        store.create(&mut Ticket::new()).await.unwrap();
    }
    let mut all = Vec::new();
    for subscription in &mut subscriptions {
        all.push(next(subscription, 2 * WRITTEN + 20).await);
    }
    other.hear::<()>();
    other.join();
    assert_quiet(&place.store, &mut subscriptions[0]).await;
    assert_eq!(all[0], all[1]);
    for (committed, expected) in all[0].iter().zip(1..) {
        assert_eq!(sequence(committed.position), expected);
    }
    agree_with_histories(&place.store, &all[0]).await;
}

/// An entry that cannot be read is an error once; the ones after it come.
#[tokio::test]
async fn a_broken_entry_does_not_end_it() {
    let place = Place::new().await;
    let mut ids = Vec::new();
    for number in 0..5 {
        ids.push(place.stored(read(&format!("{number}.txt"))).await.id());
    }
    let raw = place.unprotected();
    edit(&raw, "UPDATE journal SET kind = 9 WHERE instance = ?2", ids[1]);
    edit(&raw, "UPDATE journal SET instance = 99 WHERE instance = ?2", ids[3]);
    let mut subscription = place.store.subscribe(None).await.unwrap();
    for (id, expected) in ids.iter().zip(1_u64..) {
        let next = subscription.next().await;
        match expected {
            2 | 4 => assert_err!(next, LoadError::BrokenEntry { sequence, .. }
                if *sequence == expected),
            _ => assert_eq!(next.unwrap().id, *id),
        }
        assert_eq!(sequence(subscription.position()), expected);
    }
    assert_quiet(&place.store, &mut subscription).await;
}
