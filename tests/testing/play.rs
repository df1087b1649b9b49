//! Generated events on stored machines: those of people, of deadlines, and the outcomes of calls.

use std::time::Duration;

use machine::{
    actor::{GraphRunner, Human},
    contract::{CallError, Outcome, Tool},
    definition::Edge,
    machine,
    testing::{Coverage, TestEnvironment, TestEvent, TestTool, payload_of, walks},
};
use proptest::{
    strategy::{BoxedStrategy, Just, Strategy, ValueTree},
    test_runner::TestRunner,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Claim {
    #[initial]
    #[on(ask(cents: u32, payment = Payment { cents }) => Paying, by = Human)]
    #[on(expire => Expired, by = GraphRunner, after = Duration::from_hours(24 * 30))]
    Filed,
    #[invoke(payment, approve, done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why: CallError) =>
        match why { CallError::NotApplied(_) => Filed, why => Unpaid(why) })]
    #[on(withdraw => Expired, by = Human)]
    Paying { payment: Payment },
    #[terminal]
    Paid { receipt: String },
    #[terminal]
    Unpaid { why: CallError },
    #[terminal]
    Expired,
}

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Batch {
    #[initial]
    #[on(start(payments = Payment::two()) => Paying, by = Human)]
    New,
    #[invoke(payments: [Payment], done = finish)]
    #[on(finish(outcomes) => Finished)]
    Paying { payments: Vec<Payment> },
    #[terminal]
    Finished { outcomes: Vec<Outcome<Payment>> },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
#[tool(bank.pay, irreversible)]
struct Payment {
    cents: u32,
}

impl Payment {
    fn two() -> Vec<Self> {
        vec![Self { cents: 500 }, Self { cents: 700 }]
    }
}

fn office(bank: &TestTool<Payment>) -> TestEnvironment {
    let bank = bank.clone();
    TestEnvironment::new(move |worker| {
        worker.machine::<AnyClaim>().machine::<AnyBatch>().tool(bank.clone())
    })
}

/// Also what only an outcome, an approval or a month leads to.
#[tokio::test(start_paused = true)]
async fn played_walks_reach_every_transition() {
    let (events, mut runner) = (walks::<AnyClaim>(0..6, payload_of), TestRunner::deterministic());
    let mut coverage = Coverage::of::<AnyClaim>();
    for _ in 0..60 {
        let bank = TestTool::new();
        let office = office(&bank);
        let claim = office.create(Claim::new()).await;
        let mut paying = 0;
        for event in events.new_tree(&mut runner).unwrap().current() {
            let is_outcome = event.actors == ["call"];
            let has_moved = office.play(claim, &event).await;
            paying += usize::from(has_moved && is_outcome);
        }
        assert_eq!(bank.calls().len(), paying, "each outcome is that of one call");
        assert_eq!(office.failures(), Vec::<String>::new());
        office.cover(&mut coverage).await;
    }
    assert!(coverage.is_complete(), "{coverage}");
    assert!(coverage.to_string().contains("  refused: refused in "), "{coverage}");
}

fn payload(edge: &Edge) -> BoxedStrategy<Map<String, Value>> {
    if edge.trigger != "finish" {
        return payload_of(edge);
    }
    let outcomes = json!([{ "Ok": "receipt 7" }, { "Err": { "refused": "no money" } }]);
    Just(Map::from_iter([("outcomes".to_owned(), outcomes)])).boxed()
}

#[tokio::test(start_paused = true)]
async fn each_call_of_a_set_has_its_outcome() {
    let (events, mut runner) = (walks::<AnyBatch>(0, payload), TestRunner::deterministic());
    let triggers =
        |events: &[TestEvent]| events.iter().map(|event| event.trigger.clone()).collect::<Vec<_>>();
    let mut walks = (0..100).map(|_| events.new_tree(&mut runner).unwrap().current());
    let walk = walks.find(|events| triggers(events) == ["start", "finish"]).unwrap();
    let bank = TestTool::new();
    let office = office(&bank);
    let batch = office.create(Batch::new()).await;
    for event in walk {
        assert!(office.play(batch, &event).await, "{event:?}");
    }
    let AnyBatch::Finished(batch) = office.load(batch).await else { panic!("it has not ended") };
    let refused = CallError::Refused("no money".to_owned());
    assert_eq!(batch.state().outcomes, [Ok("receipt 7".to_owned()), Err(refused)]);
    assert_eq!(bank.calls().len(), 2);
}
