//! The conditions that must hold at the end.

use std::collections::{BTreeMap, BTreeSet};

use machine::{
    Id,
    contract::{AnyExecution, execution},
    journal::Fact,
    store::{Delivery, Query, Store},
};
use machine_tests::stores::lines;

use super::{
    errands::Lines,
    trips::{AnyTrip, trip},
};

/// The number of trips that have ended.
pub(crate) async fn count(store: &Store) -> usize {
    let mut count = 0;
    for status in ["over", "expired"] {
        let query = Query::new().machine("trip").status(status).limit(1000);
        count += lines(store, &query).await.len();
    }
    count
}

/// The machines that have not ended.
pub(crate) async fn stuck(store: &Store) -> String {
    let mut stuck = Vec::new();
    for line in lines(store, &Query::new().limit(1000)).await {
        if !["over", "expired", "completed", "failed"].contains(&&*line.status) {
            let inbox = store.inbox(line.id).await.unwrap();
            stuck.push(format!("{} {} {inbox:?}", line.id, line.status));
        }
    }
    format!("{} are stuck: {:#?}\n{:?}", stuck.len(), stuck, store.set_aside().await)
}

pub(crate) async fn check(store: &Store, trips: &[(u32, Id)], lines: &Lines) {
    let (reads, payments) = (lines.of("reads"), lines.of("payments"));
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for key in &payments {
        *counts.entry(key).or_default() += 1;
    }
    let twice: Vec<_> = counts.iter().filter(|(_, count)| **count > 1).collect();
    assert!(twice.is_empty(), "paid more than once: {twice:?}");

    let mut paid = BTreeSet::new();
    for &(number, id) in trips {
        let trip: AnyTrip = store.load(id).await.unwrap();
        let confirmed = check_inbox(store, id).await;
        let completed = check_children(store, id, &mut paid).await;
        match trip.status() {
            trip::Status::Over => {
                assert_ne!(number % 5, 0, "it was not confirmed");
                assert_eq!((confirmed, completed), (1, 2), "{id}");
            }
            trip::Status::Expired => {
                assert_eq!(number % 5, 0, "it was confirmed");
                assert_eq!((confirmed, completed), (0, 1), "{id}");
            }
            other => panic!("{id} is {other}"),
        }
        assert!(reads.contains(&number.to_string()), "{number} was not read");
    }
    let lines: BTreeSet<String> = payments.into_iter().collect();
    assert_eq!(lines, paid, "what was paid is what is COMPLETED");
    let set_aside = store.set_aside().await.unwrap();
    assert!(set_aside.machines.is_empty(), "{set_aside:?}");
    machine_tests::stores::assert_intact(store).await;
}

/// Every message has caused a transition, or was set aside because the machine has ended; every
/// outcome was taken. Returns how many messages of people were handled.
async fn check_inbox(store: &Store, id: Id) -> usize {
    let inbox = store.inbox(id).await.unwrap();
    let inbox = inbox.into_iter().map(Result::unwrap);
    let (outcomes, inbox): (Vec<_>, Vec<_>) = inbox.partition(|message| message.actor == "call");
    assert!(outcomes.iter().all(|it| it.status == Delivery::Handled), "{outcomes:?}");
    let (handled, others): (Vec<_>, Vec<_>) =
        inbox.into_iter().partition(|message| message.status == Delivery::Handled);
    for other in &others {
        // One of two that disagree: the other one was taken, and nothing takes a second one.
        let error = other.error.as_deref().unwrap_or_default();
        assert!(error.starts_with("the machine has ended"), "{other:?}");
        assert_eq!(other.status, Delivery::SetAside, "{other:?}");
    }
    let history = store.history(id).await.unwrap();
    let confirmed: Vec<_> = history
        .entries
        .iter()
        .filter_map(|entry| match &entry.fact {
            Fact::Moved { trigger, payload, .. } if trigger == "confirm" => Some(payload),
            _ => None,
        })
        .collect();
    assert_eq!(confirmed.len(), handled.len(), "{id}");
    for (payload, message) in confirmed.iter().zip(&handled) {
        let body: serde_json::Value = serde_json::from_str(&message.body).unwrap();
        assert_eq!(payload["amount"], body["amount"], "{id} took another message");
    }
    handled.len()
}

/// Returns how many executions of a trip are COMPLETED; all others are FAILED.
async fn check_children(store: &Store, id: Id, paid: &mut BTreeSet<String>) -> usize {
    let mut completed = 0;
    for child in store.children(id).await.unwrap() {
        assert!(child.has_ended, "{child:?}");
        let execution: AnyExecution = store.load(child.id).await.unwrap();
        let is_payment = execution.context().is_irreversible();
        match execution.status() {
            execution::Status::Completed => {
                completed += 1;
                if is_payment {
                    let key = execution.context().idempotency_key().unwrap().to_string();
                    assert!(paid.insert(key), "completed twice: {id}");
                }
            }
            execution::Status::Failed if is_payment => {}
            other => panic!("{child:?} is {other}"),
        }
    }
    completed
}
