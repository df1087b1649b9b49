//! Machines that pay by entering a state, and the person who answers for their payments.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use super::{
    payments::{self, Pay},
    shared::Shared,
};
use crate::{
    actor::{GraphRunner, Human},
    contract::{AnyExecution, Call, CallError, InDoubt},
    effects::EffectError,
    id::Id,
    store::{CommitError, Store},
};

/// Each stage is paid by entering a state, after a person has approved the payment. A pause leaves
/// a payment that has begun.
#[crate::machine(durable, fields(pay: Pay, in = Booking | Boarded | Unpaid | Paused))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Tour {
    #[initial]
    #[invoke(fare: Pay = pay.clone(), approve, done = paid, failed = refused)]
    #[on(paid(receipt: String) => Boarded)]
    #[on(refused(why: CallError) => match why {
        CallError::AlreadyDone { .. } => Boarded,
        _ => Unpaid,
    })]
    #[on(pause(item: u64) => Paused, by = Human, detach)]
    #[on(expire => Paused, by = GraphRunner, after = pay.limit())]
    Booking,
    /// The same payment again is done already.
    #[on(again(item: u64) => Booking, by = Human)]
    #[on(ride => if pay.is_last() { Home } else { Booking(pay = pay.following()) },
         by = GraphRunner, after = Duration::from_millis(400), detach)]
    Boarded,
    #[on(retry => Booking, by = GraphRunner, after = Duration::from_millis(200))]
    Unpaid,
    /// The same stage joins its payment; the next one leaves it.
    #[on(resume(item: u64) => Booking, by = Human)]
    #[on(skip => if pay.is_last() { Home } else { Booking(pay = pay.following()) },
         by = GraphRunner, after = Duration::from_millis(1500), detach)]
    Paused,
    #[terminal]
    Home,
}

/// The numbers of the orders of tours begin here: ten for each tour, of which each stage has one.
const FIRST: u64 = 100;

const STAGES: u64 = 4;

impl Pay {
    fn is_last(&self) -> bool {
        self.order % 10 + 1 == STAGES
    }

    fn following(&self) -> Self {
        Self { order: self.order + 1 }
    }

    /// The others have none, so that they never end if they miss an outcome.
    fn limit(&self) -> Option<Duration> {
        (self.order % 2 == 1).then_some(Duration::from_millis(800))
    }
}

/// Creates a tour. A person answers for its payments until all of it has ended.
pub(super) async fn travel(shared: Arc<Shared>, number: u64, after: Duration) {
    tokio::time::sleep(after).await;
    let (_, store) = shared.process(false);
    let Ok(by) = Human::new("ann") else { return };
    let mut tour = Tour::new(Pay { order: FIRST + 10 * number });
    while !matches!(
        store.create(&mut tour).await,
        Ok(()) | Err(EffectError::Commit(CommitError::AlreadyStored { .. }))
    ) {
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    loop {
        let pause = shared.random().millis(100..600);
        tokio::time::sleep(pause).await;
        let has_ended = shared.ledger().has_ended(tour.id());
        let Ok(mut calls) = store.children(tour.id()).await else { continue };
        calls.retain(|call| !call.has_ended);
        if has_ended && calls.is_empty() {
            break;
        }
        for call in calls {
            Box::pin(answer(&shared, &store, call.id, &by)).await;
        }
    }
    shared.open.fetch_sub(1, Ordering::AcqRel);
}

/// Approves or declines a payment, or says how it ended.
async fn answer(shared: &Shared, store: &Store, call: Id, by: &Human) {
    let Ok(call) = store.load::<AnyExecution>(call).await else { return };
    let order = order_of(&call);
    match call {
        AnyExecution::Pending(call) => {
            let Some(gate) = call.context().behind() else { return };
            let Ok(gate) = store.gate(gate).await else { return };
            let Some(whole) = gate.whole_question() else { return };
            let declines = shared.random().permille(150);
            if declines && !shared.is_calm() {
                shared.ledger().count("payments declined");
                drop(store.decline(gate, "too dear", by).await);
            } else {
                shared.ledger().shown.insert(call.id(), whole.text);
                drop(store.approve(gate, whole.digest, by).await);
            }
        }
        waiting @ AnyExecution::Waiting(_) => {
            if let (Ok(doubt), Some(order)) = (InDoubt::narrow(waiting), order) {
                payments::settle(shared, store, doubt, order, by).await;
            }
        }
        _ => {}
    }
}

fn order_of(call: &AnyExecution) -> Option<u64> {
    Some(call.context().arguments_to_run::<Pay>().ok()?.order)
}

/// The bank receives a call: the payment of a tour is the one that a person saw and approved.
pub(super) fn receive(shared: &Shared, call: &Call<Pay>) {
    let order = call.arguments.order;
    if order < FIRST {
        return;
    }
    let mut ledger = shared.ledger();
    let shown = ledger.shown.get(&call.execution_id).cloned();
    let line = format!("order: {order}");
    if !shown.as_ref().is_some_and(|text| text.lines().any(|it| it == line)) {
        ledger.violations.push(format!("the bank received order {order}, approved was {shown:?}"));
    }
}
