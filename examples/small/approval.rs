//! An approval: a person approves a large transfer, and what runs is what was approved.

use std::time::Duration;

use machine::prelude::*;
use serde::{Deserialize, Serialize};

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Payment {
    #[initial]
    #[on(order(transfer) => Paying, by = Human)]
    Drafted,
    #[invoke(transfer, approve = Transfer::is_large, expires = Duration::from_hours(24),
        done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why) => Unpaid)]
    Paying { transfer: Transfer },
    #[terminal]
    Paid {
        #[audience(human)]
        receipt: String,
    },
    #[terminal]
    Unpaid {
        #[audience(human)]
        why: CallError,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
#[tool(bank.transfer, irreversible, question = "Transfer {cents} cents to {to}?")]
struct Transfer {
    to: String,
    cents: u32,
}

impl Transfer {
    fn is_large(&self) -> bool {
        self.cents > 10_000
    }
}

#[cfg(test)]
mod tests {
    use machine::{
        contract::Gate,
        testing::{Reply, TestEnvironment, TestTool},
    };

    use super::*;

    fn transfer(cents: u32) -> Transfer {
        Transfer { to: "bob".to_owned(), cents }
    }

    /// A bank, and a payment of this sum at it.
    async fn ordered(cents: u32) -> (TestTool<Transfer>, TestEnvironment, Id) {
        let bank = TestTool::<Transfer>::new().replies(Reply::applied("receipt 7"));
        let service = bank.clone();
        let desk = TestEnvironment::new(move |worker| {
            worker.machine::<AnyPayment>().tool(service.clone())
        });
        let id = desk.create(Payment::new().order(transfer(cents), &desk.person("ann"))).await;
        desk.run_until_idle().await;
        (bank, desk, id)
    }

    /// The question that waits for a person.
    async fn gate(desk: &TestEnvironment) -> Gate {
        let asked = desk.observer().approvals(&Query::new()).await.unwrap().items;
        desk.store().gate(asked[0].gate).await.unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_small_transfer_needs_no_approval() {
        let (bank, desk, id) = ordered(500).await;
        assert_eq!(desk.load::<AnyPayment>(id).await.status(), payment::Status::Paid);
        assert_eq!(bank.calls(), [transfer(500)]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_large_transfer_waits_for_a_person() {
        let (bank, desk, id) = ordered(20_000).await;
        assert_eq!(bank.calls(), []);
        let gate = gate(&desk).await;
        let shown = gate.whole_question().unwrap();
        desk.store().approve(gate, shown.digest, &desk.person("eve")).await.unwrap();
        desk.run_until_idle().await;
        assert_eq!(desk.load::<AnyPayment>(id).await.status(), payment::Status::Paid);
        assert_eq!(bank.calls(), [transfer(20_000)]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_person_declines() {
        let (bank, desk, id) = ordered(20_000).await;
        let gate = gate(&desk).await;
        desk.store().decline(gate, "too much", &desk.person("eve")).await.unwrap();
        desk.run_until_idle().await;
        let AnyPayment::Unpaid(payment) = desk.load(id).await else { panic!("it was declined") };
        let (by, reason) = ("eve".to_owned(), "too much".to_owned());
        assert_eq!(payment.state().why, CallError::Declined { by, reason });
        assert_eq!(bank.calls(), []);
    }
}
