//! Histories with a defect: the check of walks finds each.

use machine::{
    contract::CallFact,
    journal::{Entry, Fact},
};
use machine_tests::random::Random;

use super::{Walk, bank::lines, check::check, file, table::Event};
use crate::worker::{leave::committed, prelude::*};

/// Checks a walk whose first call ended CANCELLED with its visit, with a defect in its history.
async fn check_spoiled(spoil: impl FnOnce(&mut Vec<(Id, Entry)>)) {
    let mut random = Random::of("twins");
    let mut walk = Walk::new(&mut random).await;
    walk.says(&Event::Pause).await;
    settle(walk.bank(Vec::new()).worker()).await;
    walk.ends().await;
    let mut history = committed(&walk.store).await;
    spoil(&mut history);
    check(&walk.store, walk.tour, &history, &lines(&file(&walk.folder))).await;
}

fn is_move(entry: &Entry, by: &str) -> bool {
    matches!(&entry.fact, Fact::Moved { trigger, .. } if trigger == by)
}

fn is_closed(entry: &Entry) -> bool {
    matches!(CallFact::of(entry), Some(CallFact::Closed { .. }))
}

/// Without the entry that closed it, a call that ended CANCELLED seems to have begun.
#[tokio::test]
#[should_panic(expected = "begins after its visit")]
async fn a_cancelled_call_without_its_closing_entry_is_found() {
    check_spoiled(|history| history.retain(|(_, entry)| !is_closed(entry))).await;
}

#[tokio::test]
#[should_panic(expected = "before the call began")]
async fn a_call_that_is_withdrawn_during_its_visit_is_found() {
    check_spoiled(|history| {
        let left = history.iter().position(|(_, entry)| is_move(entry, "pause")).unwrap();
        let closed = history.iter().position(|(_, entry)| is_closed(entry)).unwrap();
        let early = history.remove(closed);
        history.insert(left, early);
    })
    .await;
}

#[tokio::test]
#[should_panic(expected = "without an approval")]
async fn a_call_without_an_approval_is_found() {
    let is_answer = |entry: &Entry| matches!(CallFact::of(entry), Some(CallFact::Decided { .. }));
    check_spoiled(|history| history.retain(|(_, entry)| !is_answer(entry))).await;
}

#[tokio::test]
#[should_panic(expected = "has paid, and its receipt was not taken")]
async fn a_receipt_that_no_visit_takes_is_found() {
    check_spoiled(|history| history.retain(|(_, entry)| !is_move(entry, "paid"))).await;
}
