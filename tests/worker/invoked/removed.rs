//! A program whose table makes no call for a state moves a machine that another program gave one:
//! the call does not begin afterwards.

use machine::{effects::EffectError, store::CommitError};

use super::orders::gate_of;
use crate::worker::prelude::*;

/// A program whose state is like this.
macro_rules! program {
    ($program:ident, $($of_paying:tt)*) => {
        mod $program {
            use super::*;

            #[machine(durable)]
            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
            pub(super) enum Order {
                #[initial]
                #[on(place => Paying, by = Human)]
                Cart,
                $($of_paying)*
                #[on(cancel => Cancelled, by = Human)]
                Paying,
                #[terminal]
                Cancelled,
            }
        }
    };
}

program!(silent, #[stable]);
program!(asking, #[invoke(charge: Charge = Charge { cents: 3 }, approve, adopt)]);
program!(charging, #[invoke(charge: Charge = Charge { cents: 3 }, adopt)]);

/// The call of an order.
async fn call_of(store: &Store, order: Id) -> Id {
    store.children(order).await.unwrap().remove(0).id
}

/// An order that is PAYING, its call, and the gate of that.
async fn asked(store: &Store) -> (Id, Id, Id) {
    let mut cart = asking::Order::new();
    store.create(&mut cart).await.unwrap();
    let mut paying = cart.place(ann());
    store.commit(&mut paying).await.unwrap();
    let call = call_of(store, paying.id()).await;
    (paying.id(), call, gate_of(store, call).await.id())
}

/// The commit of a program that does not know the call.
async fn cancel(store: &Store, order: Id) -> Result<(), EffectError> {
    let order: silent::AnyOrder = store.load(order).await.unwrap();
    let silent::AnyOrder::Paying(paying) = order else { panic!("it is paying") };
    store.commit(&mut paying.cancel(ann())).await
}

#[test]
fn a_newer_program_ends_the_call_that_it_does_not_make() {
    each(async |store| {
        let (order, call, gate) = asked(&store).await;
        cancel(&store, order).await.unwrap();
        for ended in [order, call, gate] {
            is(&store, ended, "cancelled").await;
        }
    });
}

#[test]
fn a_newer_program_waits_for_the_call_that_it_does_not_make() {
    each(async |store| {
        let (order, call, _) = asked(&store).await;
        let gate = gate_of(&store, call).await;
        drop(machine_tests::approve(&store, gate, ann()).await.unwrap());
        settle(worker(&store).tool::<Charge>(Service::unknown())).await;
        assert_err!(cancel(&store, order).await, EffectError::Commit(CommitError::UnderWay { call: by, .. }) if *by == call);
        is(&store, order, "paying").await;
    });
}

/// An order of an older program that has not seen that a newer one made its call, and cancelled it
/// since. The call waits.
async fn left_unseen(
    folder: &tempfile::TempDir,
    newer: impl FnOnce(Worker) -> Worker,
) -> (Store, Id) {
    let file = folder.path().join("agent.db");
    let (ours, theirs) = (Store::sqlite(&file).await.unwrap(), Store::sqlite(&file).await.unwrap());
    let mut cart = silent::Order::new();
    ours.create(&mut cart).await.unwrap();
    let mut paying = cart.place(ann());
    ours.commit(&mut paying).await.unwrap();
    settle(newer(worker(&theirs))).await;
    let call = call_of(&ours, paying.id()).await;
    ours.commit(&mut paying.cancel(ann())).await.unwrap();
    is(&ours, call, "pending").await;
    (ours, call)
}

#[tokio::test]
async fn a_call_whose_state_was_left_does_not_begin() {
    let folder = tempfile::tempdir().unwrap();
    let newer = |worker: Worker| worker.handler(rests::<charging::AnyOrder>());
    let (store, call) = left_unseen(&folder, newer).await;
    let planned = store.planned::<Charge>(call).await.unwrap();
    let refused = store.begin(planned, tool_node()).await.map_err(|refused| refused.reason);
    assert_err!(refused, EffectError::StateLeft { id, .. } if *id == call);
    let bank = Service::default();
    settle(worker(&store).tool::<Charge>(bank.clone())).await;
    is(&store, call, "cancelled").await;
    assert_eq!(bank.calls(), 0);
}

#[tokio::test]
async fn a_call_whose_state_was_left_cannot_be_approved() {
    let folder = tempfile::tempdir().unwrap();
    let newer = |worker: Worker| worker.handler(rests::<asking::AnyOrder>());
    let (store, call) = left_unseen(&folder, newer).await;
    let gate = gate_of(&store, call).await;
    let refused = machine_tests::approve(&store, gate, ann()).await.unwrap_err();
    let EffectError::StateLeft { id, .. } = refused.reason else { panic!("{}", refused.reason) };
    assert_eq!(id, refused.machine.id());
    drop(store.withdraw(refused.machine, "left", graph_runner()).await.unwrap());
    is(&store, call, "cancelled").await;
}
