//! Sets of calls.

use std::time::Duration;

use machine::{
    Id,
    actor::{GraphRunner, Human},
    contract::{CallError, Outcome, Tool},
    machine,
    testing::{Reply, TestEnvironment, TestTool},
};
use machine_tests::invoked::Charge;
use serde::{Deserialize, Serialize};

use super::orders::{gate_of, is_clean};
use plan::Event;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
#[tool(files.read, idempotent)]
struct Read {
    path: String,
}

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Plan {
    #[initial]
    #[on(read(reads) => Reading, by = Human)]
    #[on(count(reads, seen = 0) => Counting, by = Human)]
    Idle,
    #[invoke(reads: [Read], within = Duration::from_secs(10), done = all)]
    #[on(all(outcomes) => Ready(seen = 0))]
    Reading { reads: Vec<Read> },
    #[invoke(reads: [Read] = reads.clone(), each = one, done = all)]
    #[on(one(outcome: Outcome<Read>, index: usize, seen = seen + 1) => Self)]
    #[on(all(outcomes) => Ready)]
    Counting { reads: Vec<Read>, seen: usize },
    #[terminal]
    Ready { outcomes: Vec<Outcome<Read>>, seen: usize },
}

async fn planned(files: &TestTool<Read>, event: &Event) -> (TestEnvironment, Id) {
    let files = files.clone();
    let library =
        TestEnvironment::new(move |worker| worker.machine::<AnyPlan>().tool(files.clone()));
    let id = library.create(AnyPlan::from(Plan::new())).await;
    library.send(id, event, &library.person("ann")).await;
    library.run_until_idle().await;
    (library, id)
}

fn reads(count: usize) -> Vec<Read> {
    (0..count).map(|path| Read { path: path.to_string() }).collect()
}

/// All outcomes, also of none.
#[tokio::test(start_paused = true)]
async fn all_outcomes_of_a_set_come_together() {
    for reply in [Reply::applied("text"), Reply::refused("no such file")] {
        for count in [0, 1, 2, 5] {
            let read = Event::Read { reads: reads(count) };
            for (event, seen) in [(read, 0), (Event::Count { reads: reads(count) }, count)] {
                let files = TestTool::<Read>::new().otherwise(reply.clone());
                let (library, id) = planned(&files, &event).await;
                let AnyPlan::Ready(ready) = library.load(id).await else { panic!("{event:?}") };
                let plan::Ready { outcomes, seen: found } = ready.state();
                assert_eq!((outcomes.len(), *found), (count, seen), "{reply:?}: {event:?}");
                let expected = match &reply {
                    Reply::Applied(_) => Ok("text".to_owned()),
                    _ => Err(CallError::Refused("no such file".to_owned())),
                };
                assert!(outcomes.iter().all(|outcome| *outcome == expected), "{outcomes:?}");
                is_clean(&library).await;
            }
        }
    }
}

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
    let gate = gate_of(shop.store(), call).await;
    machine_tests::approve(shop.store(), gate, &shop.person("ann")).await.unwrap();
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
    shop.send(id, &bill::Event::Split { parts }, &shop.person("ann")).await;
    shop.run_until_idle().await;
    let calls = shop.store().children(id).await.unwrap().into_iter();
    let calls: Vec<Id> = calls.filter(|call| call.position.is_some()).map(|call| call.id).collect();
    let [first, second] = calls[..] else { panic!("{calls:?}") };

    approve(&shop, first).await;
    shop.advance(Duration::from_mins(1)).await;
    shop.run_until_idle().await;
    assert_eq!(shop.load::<AnyBill>(id).await.status(), bill::Status::Splitting);

    approve(&shop, second).await;
    shop.advance(Duration::from_mins(1)).await;
    shop.run_until_idle().await;
    assert_eq!(shop.load::<AnyBill>(id).await.status(), bill::Status::Settled);
    assert_eq!(bank.calls().len(), 2);
    is_clean(&shop).await;
}
