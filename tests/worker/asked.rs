//! A handler whose transition asks a person: gate and call are in the batch of that.

use machine::{
    contract::{CallError, Outcome},
    observe::{ConcernReason, Observer},
    worker::{Handled, Task},
};

use crate::worker::prelude::*;

/// A refund that a person has to allow.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Refund {
    #[initial]
    #[on(ask(charge = Charge { cents: 5 }) => Asked, by = GraphRunner)]
    Filed,
    #[invoke(charge, approve)]
    #[on(pay => Paid, by = GraphRunner)]
    #[on(refuse => Refused, by = GraphRunner)]
    Asked { charge: Charge },
    #[terminal]
    Paid,
    #[terminal]
    Refused,
}

/// Fails after it has made its transition, until it has run three times.
#[derive(Default)]
struct Clerk(Count);

impl refund::Handle for Clerk {
    async fn filed(&self, refund: Refund<refund::Filed>, _: &mut Task) -> Handled<AnyRefund> {
        let asked = refund.ask(graph_runner());
        if self.0.add() < 3 {
            return Err("it fails after its transition".into());
        }
        Ok(Next::to(asked))
    }

    async fn asked(
        &self,
        refund: Refund<refund::Asked>,
        outcome: Outcome<Charge>,
        _: &mut Task,
    ) -> Handled<AnyRefund> {
        Ok(match outcome {
            Ok(_) => Next::to(refund.pay(graph_runner())),
            Err(CallError::Declined { .. }) => Next::to(refund.refuse(graph_runner())),
            Err(why) => return Err(why.into()),
        })
    }
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
            let drives = || {
                worker(&store)
                    .handler(refund::Driver(Clerk::default()))
                    .tool::<Charge>(bank.clone())
            };
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
