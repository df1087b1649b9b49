//! Calls of earlier visits are pruned while their machine lives.

use machine::{
    contract::{CallError, Outcome},
    store::{LoadError, Prune},
};
use machine_tests::invoked::Charge;

use crate::worker::prelude::*;

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Bill {
    #[initial]
    #[on(pay => Paying, by = Human)]
    #[on(split(charges) => Splitting, by = Human)]
    Open { charge: Charge },
    #[invoke(charge, done = paid, failed = refused)]
    #[on(paid(receipt) => Settled)]
    #[on(refused(why) => Unpaid)]
    Paying { charge: Charge },
    #[stable]
    #[on(pay => Paying, by = Human)]
    Settled { charge: Charge, receipt: String },
    #[stable]
    #[on(pay => Paying, by = Human)]
    #[on(close => Closed, by = Human)]
    Unpaid { charge: Charge, why: CallError<String> },
    #[invoke(charges: [Charge], done = all)]
    #[on(all(outcomes) => Split)]
    Splitting { charges: Vec<Charge> },
    #[stable]
    #[on(close => Closed, by = Human)]
    Split { outcomes: Vec<Outcome<Charge>> },
    #[terminal]
    Closed,
}

/// Prunes everything that ended by now; returns the number of machines.
async fn pruned(store: &Store) -> u64 {
    // The newest machine is kept.
    create(store, Lamp::new()).await;
    let all = Prune::ended_for(Duration::ZERO);
    let pruned = store.prune(&all, ann()).await.unwrap();
    assert_eq!(pruned.problems, []);
    machine_tests::stores::assert_intact(store).await;
    pruned.machines
}

/// The outcome goes with the call. The action is not repeated, and the next entry joins no call
/// whose outcome was taken, also if that was not pruned.
#[test]
fn a_call_is_pruned_once_its_outcome_was_taken() {
    for prunes in [true, false] {
        each(async |store| {
            let bank = Service::default();
            let drives = || worker(&store).machine::<AnyBill>().tool::<Charge>(bank.clone());
            let mut bill = Bill::new(Charge { cents: 5 }).pay(ann());
            store.create(&mut bill).await.unwrap();
            let id = bill.id();
            let call = store.children(id).await.unwrap().remove(0).id;
            // The call has ended, and the outcome was not taken.
            settle(worker(&store).tool::<Charge>(bank.clone())).await;
            is(&store, call, "completed").await;
            assert_eq!(pruned(&store).await, 0);
            settle(drives()).await;
            is(&store, id, "settled").await;
            if prunes {
                assert_eq!(pruned(&store).await, 1);
                assert_err!(store.load::<AnyExecution>(call).await, LoadError::NotFound { .. });
                assert!(store.children(id).await.unwrap().is_empty());
                assert!(inbox(&store, id).await.is_empty());
            }

            let AnyBill::Settled(settled) = store.load(id).await.unwrap() else {
                panic!("it is not")
            };
            store.commit(&mut settled.pay(ann())).await.unwrap();
            settle(drives()).await;
            let AnyBill::Unpaid(unpaid) = store.load(id).await.unwrap() else {
                panic!("it has paid")
            };
            assert_eq!(unpaid.state().why, CallError::AlreadyDone { by: call });
            assert_eq!(bank.calls(), 1);
        });
    }
}

#[test]
fn the_calls_of_a_set_are_pruned() {
    each(async |store| {
        let charges = (1..4).map(|cents| Charge { cents }).collect();
        let mut bill = Bill::new(Charge { cents: 6 }).split(charges, ann());
        store.create(&mut bill).await.unwrap();
        let pays = worker(&store).machine::<AnyBill>().tool::<Charge>(Service::default());
        settle(pays).await;
        is(&store, bill.id(), "split").await;
        assert_eq!(pruned(&store).await, 3);
        assert!(inbox(&store, bill.id()).await.is_empty());
    });
}
