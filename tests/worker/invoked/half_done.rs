//! A set whose first call has ended when a deadline is due that would leave the second one.

use std::time::Duration;

use machine::{
    Id,
    actor::{GraphRunner, Human},
    contract::{AnyExecution, Outcome},
    machine,
    testing::{Reply, TestEnvironment, TestTool},
};
use machine_tests::invoked::Charge;
use serde::{Deserialize, Serialize};

use super::orders::is_clean;
use bill::{Event, Status};

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Bill {
    #[initial]
    #[on(split(parts) => Splitting, by = Human)]
    Open,
    #[invoke(parts: [Charge], approve, done = all)]
    #[on(all(outcomes) => Settled)]
    #[on(expire => Expired, by = GraphRunner, after = Duration::from_secs(10))]
    Splitting { parts: Vec<Charge> },
    #[terminal]
    Settled { outcomes: Vec<Outcome<Charge>> },
    #[terminal]
    Expired,
}

async fn approve(shop: &TestEnvironment, call: Id) {
    let call: AnyExecution = shop.load(call).await;
    let gate = shop.store().gate(call.context().behind().unwrap()).await.unwrap();
    machine_tests::approve(shop.store(), gate, &Human::new("ann").unwrap()).await.unwrap();
    shop.run_until_idle().await;
}

/// The deadline waits for the outcome of the first call, which is taken with that of the second, so
/// the second one must not wait for the deadline.
#[tokio::test(start_paused = true)]
async fn a_call_does_not_wait_for_a_deadline_that_waits_for_its_set() {
    let bank = TestTool::<Charge>::new().otherwise(Reply::applied("receipt"));
    let tool = bank.clone();
    let shop = TestEnvironment::new(move |worker| worker.machine::<AnyBill>().tool(tool.clone()));
    let id = shop.create(AnyBill::from(Bill::new())).await;
    let parts = vec![Charge { cents: 1 }, Charge { cents: 2 }];
    shop.send(id, &Event::Split { parts }, &shop.person("ann")).await;
    shop.run_until_idle().await;
    let calls = shop.store().children(id).await.unwrap().into_iter();
    let calls: Vec<Id> = calls.filter(|call| call.position.is_some()).map(|call| call.id).collect();
    let [first, second] = calls[..] else { panic!("{calls:?}") };

    approve(&shop, first).await;
    shop.advance(Duration::from_mins(1)).await;
    shop.run_until_idle().await;
    assert_eq!(shop.load::<AnyBill>(id).await.status(), Status::Splitting);

    approve(&shop, second).await;
    shop.advance(Duration::from_mins(1)).await;
    shop.run_until_idle().await;
    assert_eq!(shop.load::<AnyBill>(id).await.status(), Status::Settled);
    assert_eq!(bank.calls().len(), 2);
    is_clean(&shop).await;
}
