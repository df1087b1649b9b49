//! A handler that asks a person: gate and call are in the batch of its transition.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use machine::{
    Id,
    actor::GraphRunner,
    contract::{AnyExecution, Contract},
    machine,
    store::{Query, Store},
    view::{Internal, Observer, Reason},
    worker::{Next, Worker},
};
use serde::{Deserialize, Serialize};

use crate::worker::{
    shop::{Bank, Charge},
    support::{Does, actors, ann, create, does, each, settle, worker},
};

/// A refund that a person has to allow.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Refund {
    #[initial]
    #[on(ask => Asked, by = GraphRunner)]
    Filed,
    #[on(pay => Paid, by = GraphRunner)]
    #[on(refuse => Refused, by = GraphRunner)]
    Asked,
    #[terminal]
    Paid,
    #[terminal]
    Refused,
}

/// Asks for 5 cents. It fails after it has asked, until it has run this often.
fn asks(fails: usize) -> Does<AnyRefund> {
    let (runs, by) = (AtomicUsize::new(0), Arc::new(actors()));
    does(move |refund: AnyRefund, task| {
        let run = runs.fetch_add(1, Ordering::SeqCst);
        let by = Arc::clone(&by);
        Box::pin(async move {
            Ok(match refund {
                AnyRefund::Filed(refund) => {
                    let contract = Contract::of(&Charge { cents: 5 }, &by.reasoning_node)?;
                    task.ask::<Charge>(contract, None)?;
                    if run < fails {
                        return Err("it fails after it has asked".into());
                    }
                    Next::to(refund.ask(&by.graph_runner))
                }
                AnyRefund::Asked(refund) => match task.joined().await?.as_deref() {
                    Some([charge]) if charge.status == "completed" => {
                        Next::to(refund.pay(&by.graph_runner))
                    }
                    Some(_) => Next::to(refund.refuse(&by.graph_runner)),
                    None => Next::Wait,
                },
                AnyRefund::Paid(_) | AnyRefund::Refused(_) => Next::Wait,
            })
        })
    })
}

fn drives(store: &Store, bank: &Bank, fails: usize) -> Worker {
    worker(store).handler(asks(fails)).tool(bank.clone())
}

/// The gates that wait for an answer.
async fn gates(store: &Store) -> Vec<Id> {
    let attention = Observer::new(store).attention::<Internal>(&Query::new()).await.unwrap();
    let waiting = attention.concerns.iter().filter(|it| it.reason == Reason::WaitsForPerson);
    waiting.map(|concern| concern.id.unwrap()).collect()
}

async fn state(store: &Store, id: Id) -> refund::Status {
    store.load::<AnyRefund>(id).await.unwrap().status()
}

#[tokio::test]
async fn a_handler_that_fails_has_not_asked() {
    each(async |store: Store| {
        let (id, bank) = (create(&store, Refund::new()).await, Bank::default());
        settle(drives(&store, &bank, 3)).await;
        assert_eq!(state(&store, id).await, refund::Status::Asked);
        assert_eq!(gates(&store).await.len(), 1);
        let executions = store.load_all::<AnyExecution>(&Query::new()).await.unwrap();
        assert_eq!(executions.items.len(), 2, "the gate and the charge");
    })
    .await;
}

#[tokio::test]
async fn an_approved_call_runs_once() {
    each(async |store: Store| {
        let (id, bank) = (create(&store, Refund::new()).await, Bank::default());
        settle(drives(&store, &bank, 0)).await;
        assert_eq!(bank.0.load(Ordering::SeqCst), 0);
        // Before the answer, the refund waits for a charge that has not ended.
        assert_eq!(state(&store, id).await, refund::Status::Asked);
        let gate = store.gate(gates(&store).await[0]).await.unwrap();
        let shown = gate.whole_question().unwrap().digest;
        store.approve(gate, shown, &ann()).await.unwrap();
        settle(drives(&store, &bank, 0)).await;
        assert_eq!(state(&store, id).await, refund::Status::Paid);
        assert_eq!(bank.0.load(Ordering::SeqCst), 1);
        assert!(gates(&store).await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_declined_call_never_runs() {
    each(async |store: Store| {
        let (id, bank) = (create(&store, Refund::new()).await, Bank::default());
        settle(drives(&store, &bank, 0)).await;
        let gate = store.gate(gates(&store).await[0]).await.unwrap();
        store.decline(gate, "not this month", &ann()).await.unwrap();
        settle(drives(&store, &bank, 0)).await;
        assert_eq!(state(&store, id).await, refund::Status::Refused);
        assert_eq!(bank.0.load(Ordering::SeqCst), 0);
    })
    .await;
}
