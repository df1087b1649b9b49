//! The rounds of a claim: what was asked, answered or paid in an earlier visit decides nothing in a
//! later one.

use machine::{
    contract::{CallError, Gate},
    observe::{ConcernReason, Observer},
    view::Internal,
};

use super::orders::gate_of;
use crate::worker::{approved::Bank, prelude::*};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
#[tool(bank.refund, irreversible)]
struct Refund {
    cents: u32,
}

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Claim {
    #[initial]
    #[stable]
    #[on(ask(cents: u32) => Asked(refund = Refund { cents }), by = Human)]
    Drafted,
    #[invoke(refund, approve, done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why: CallError) => match why {
        CallError::Declined { .. } => Drafted,
        _ => Refused,
    })]
    Asked { refund: Refund },
    #[terminal]
    Paid { receipt: String },
    #[terminal]
    Refused,
}

impl Perform<Refund> for Bank {
    async fn perform(&self, call: &Call<Refund>) -> Answer {
        self.0.lock().unwrap().push(call.arguments.cents);
        Ok(Applied::new("paid"))
    }
}

async fn drive(store: &Store, bank: &Bank) {
    settle(worker(store).machine::<AnyClaim>().tool::<Refund>(bank.clone())).await;
}

/// The next round of a claim asks for these cents.
async fn asked(store: &Store, id: Id, cents: u32) -> Gate {
    let AnyClaim::Drafted(claim) = store.load(id).await.unwrap() else { panic!("it is asked") };
    store.commit(&mut claim.ask(cents, ann())).await.unwrap();
    gate_of(store, store.children(id).await.unwrap().pop().unwrap().id).await
}

/// The number of questions that are open.
async fn open(store: &Store) -> usize {
    Observer::new(store).approvals(&Query::new()).await.unwrap().items.len()
}

/// The first round is declined, and the second one is approved, about another amount or about the
/// same.
#[test]
fn an_approval_counts_whatever_was_declined_before() {
    for cents in [400, 500] {
        each(async |store| {
            let (id, bank) = (create(&store, Claim::new()).await, Bank::default());
            let first = asked(&store, id, 500).await;
            store.decline(first, "too much", ann()).await.unwrap();
            drive(&store, &bank).await;
            let second = asked(&store, id, cents).await;
            machine_tests::approve(&store, second, ann()).await.unwrap();
            drive(&store, &bank).await;
            is(&store, id, "paid").await;
            assert_eq!((bank.paid(), open(&store).await), (vec![cents], 0));
        });
    }
}

/// The second state has the handler of the first one, and no call.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Stay {
    #[initial]
    #[invoke(deposit: Charge = Charge { cents: 1 }, unattended)]
    #[on(go_on => PayingRest, by = GraphRunner)]
    PayingDeposit,
    #[on(accept => Paid, by = GraphRunner)]
    PayingRest,
    #[terminal]
    Paid,
}

/// Goes on once the call of the state has ended.
fn accepts() -> Does<AnyStay> {
    does(|stay: AnyStay, task| {
        Box::pin(async move {
            let has_ended = task.outcome::<Charge>()?.is_some();
            let by = graph_runner();
            Ok(match stay {
                AnyStay::PayingDeposit(stay) if has_ended => Next::to(stay.go_on(by)),
                AnyStay::PayingRest(stay) if has_ended => Next::to(stay.accept(by)),
                _ => Next::Wait,
            })
        })
    })
}

/// The receipt of the deposit does not pay the rest, and the machine needs attention.
#[test]
fn a_receipt_of_an_earlier_state_pays_nothing() {
    timed(async |store, hand| {
        let (id, bank) = (create(&store, Stay::new()).await, Service::default());
        let drive = || worker(&store).handler(accepts()).tool::<Charge>(bank.clone());
        settle(drive()).await;
        is(&store, id, "paying_rest").await;
        hand.pass(Duration::from_mins(1));
        settle(drive()).await;
        is(&store, id, "paying_rest").await;
        assert_eq!(bank.calls(), 1);
        let attention = Observer::new(&store).attention::<Internal>(&Query::new()).await.unwrap();
        let [concern] = &attention.concerns[..] else { panic!("{attention:?}") };
        assert_eq!((concern.id, concern.reason), (Some(id), ConcernReason::Stuck));
    });
}
