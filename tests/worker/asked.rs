//! A handler that asks a person: gate and call are in the batch of its transition.

use machine::{
    contract::execution::Completed,
    observe::{ConcernReason, Observer},
};

use crate::worker::prelude::*;

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

/// Asks for 5 cents. It fails after it has asked, until it has run three times.
fn asks() -> Does<AnyRefund> {
    let (runs, by) = (Count::default(), graph_runner());
    does(move |refund: AnyRefund, task| {
        let fails = runs.add() < 3;
        Box::pin(async move {
            Ok(match refund {
                AnyRefund::Filed(refund) => {
                    task.ask::<Charge>(charge(5), None)?;
                    if fails {
                        return Err("it fails after it has asked".into());
                    }
                    Next::to(refund.ask(by))
                }
                AnyRefund::Asked(refund) => match task.joined().await?.as_deref() {
                    Some([charge]) if charge.is_in::<Completed>() => Next::to(refund.pay(by)),
                    Some(_) => Next::to(refund.refuse(by)),
                    None => Next::Wait,
                },
                AnyRefund::Paid(_) | AnyRefund::Refused(_) => Next::Wait,
            })
        })
    })
}

/// The gates that wait for an answer.
async fn gates(store: &Store) -> Vec<Id> {
    let observer = Observer::new(store);
    let attention = observer.attention::<machine::view::Internal>(&Query::new()).await.unwrap();
    let waiting = attention.concerns.iter().filter(|it| it.reason == ConcernReason::WaitsForPerson);
    waiting.map(|concern| concern.id.unwrap()).collect()
}

/// A handler that fails has not asked. An approved call runs once, a declined one never.
#[test]
fn a_call_that_was_asked_for_runs_if_it_is_approved() {
    for (approved, end) in [(true, "paid"), (false, "refused")] {
        each(async |store| {
            let (id, bank) = (create(&store, Refund::new()).await, Service::default());
            let drives = || worker(&store).handler(asks()).tool::<Charge>(bank.clone());
            settle(drives()).await;
            // Before the answer, the refund waits for a charge that has not ended.
            is(&store, id, "asked").await;
            assert_eq!(bank.calls(), 0);
            let [gate] = gates(&store).await[..] else { panic!("it asks once") };
            let executions = store.load_all::<AnyExecution>(&Query::new()).await.unwrap();
            assert_eq!(executions.items.len(), 2, "the gate and the charge");
            let gate = store.gate(gate).await.unwrap();
            if approved {
                machine_tests::approve(&store, gate, ann()).await.unwrap();
            } else {
                store.decline(gate, "not this month", ann()).await.unwrap();
            }
            settle(drives()).await;
            is(&store, id, end).await;
            assert_eq!(bank.calls(), usize::from(approved));
            assert!(gates(&store).await.is_empty());
        });
    }
}
