//! A person declines a call, and its machine leaves the state before it takes the outcome.

use machine::contract::CallError;
use machine_tests::invoked::Charge;

use super::orders::gate_of;
use crate::worker::prelude::*;

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[invoke(charge, approve, done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why) => Unpaid)]
    #[on(pause => Paused, by = Human, detach)]
    Paying { charge: Charge },
    #[stable]
    #[on(resume => Paying, by = Human)]
    #[on(raise => Paying(charge = Charge { cents: charge.cents + 1 }), by = Human)]
    Paused { charge: Charge },
    #[stable]
    #[on(retry => Paying, by = Human)]
    Unpaid { charge: Charge, why: CallError<String> },
    #[terminal]
    Paid { receipt: String },
}

fn drives(store: &Store) -> Worker {
    worker(store).machine::<AnyOrder>().tool::<Charge>(Service::default())
}

/// An order whose charge was declined. It was paused before it took the outcome.
async fn declined(store: &Store) -> Id {
    let id = create(store, Order::new(Charge { cents: 500 })).await;
    let call = store.children(id).await.unwrap().remove(0).id;
    store.decline(gate_of(store, call).await, "not this month", ann()).await.unwrap();
    let AnyOrder::Paying(paying) = store.load(id).await.unwrap() else { panic!("it moved") };
    store.commit(&mut paying.pause(ann())).await.unwrap();
    id
}

async fn paused(store: &Store, id: Id) -> Order<order::Paused> {
    let AnyOrder::Paused(paused) = store.load(id).await.unwrap() else { panic!("it moved") };
    paused
}

/// The numbers of the calls of an order, and of the questions that are open.
async fn made(store: &Store, id: Id) -> (usize, usize) {
    let executions = store.load_all::<AnyExecution>(&Query::new()).await.unwrap().items;
    let is_open = |it: &AnyExecution| matches!(it, AnyExecution::Waiting(_));
    let open = executions.into_iter().map(Result::unwrap).filter(is_open).count();
    (store.children(id).await.unwrap().len(), open)
}

#[test]
fn nobody_is_asked_again_about_what_they_declined() {
    for is_seen in [false, true] {
        each(async |store| {
            let id = declined(&store).await;
            if is_seen {
                settle(drives(&store)).await;
            }
            store.commit(&mut paused(&store, id).await.resume(ann())).await.unwrap();
            assert_eq!(made(&store, id).await, (1, 0), "{is_seen}");
            settle(drives(&store)).await;
            let AnyOrder::Unpaid(unpaid) = store.load(id).await.unwrap() else {
                panic!("it has no outcome, seen: {is_seen}")
            };
            let why = &unpaid.state().why;
            assert!(matches!(why, CallError::Declined { .. }), "{why:?}");

            // It knows now, so a person who tries again is asked.
            store.commit(&mut unpaid.retry(ann())).await.unwrap();
            assert_eq!(made(&store, id).await, (2, 1), "{is_seen}");
            settle(drives(&store)).await;
            is(&store, id, "paying").await;
        });
    }
}

#[test]
fn another_amount_is_another_question() {
    each(async |store| {
        let id = declined(&store).await;
        store.commit(&mut paused(&store, id).await.raise(ann())).await.unwrap();
        assert_eq!(made(&store, id).await, (2, 1));
        settle(drives(&store)).await;
        is(&store, id, "paying").await;
    });
}
