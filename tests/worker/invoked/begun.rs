//! Calls that begin while their state is left.

use machine::contract::Outcome;
use machine_tests::invoked::Charge;

use crate::worker::prelude::*;

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Payroll {
    #[initial]
    #[on(pay(charges) => Paying, by = Human)]
    Idle,
    #[invoke(charges: [Charge], done = paid)]
    #[on(paid(outcomes) => Paid)]
    #[on(pause => Paused, by = Human, detach)]
    Paying { charges: Vec<Charge> },
    #[on(resume => Paying, by = Human)]
    Paused { charges: Vec<Charge> },
    #[terminal]
    Paid { outcomes: Vec<Outcome<Charge>> },
}

/// Each is withdrawn, or keeps its place, so that the next entry joins it.
#[test]
fn a_call_that_begins_while_it_is_left_keeps_its_place() {
    on_threads(async |store| {
        let charges = (0..64).map(|cents| Charge { cents }).collect();
        let mut payroll = Payroll::new().pay(charges, ann());
        store.create(&mut payroll).await.unwrap();
        let mut calls = Vec::new();
        for call in store.children(payroll.id()).await.unwrap() {
            let AnyExecution::Pending(call) = store.load(call.id).await.unwrap() else { panic!() };
            calls.push(Planned::<Charge>::of(call).unwrap());
        }
        let other = store.clone();
        let begins = tokio::spawn(async move {
            // The last ones first: the move reads them after the others.
            while let Some(call) = calls.pop() {
                // The move may have been first.
                drop(other.begin(call, tool_node()).await);
            }
        });
        let mut paused = payroll.pause(ann());
        store.commit(&mut paused).await.unwrap();
        begins.await.unwrap();
        for call in store.children(paused.id()).await.unwrap() {
            assert!(call.position.is_some() || call.status == "cancelled", "{call:?}");
        }
    });
}
