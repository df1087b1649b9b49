//! A handler, and a copy of it with a mistake that people make: the kit finds it.

use machine::{
    actor::GraphRunner,
    contract::{CallError, Outcome},
    machine,
    testing::{Coverage, Reply, TestEnvironment, TestTool},
    worker::{Handled, Next, Task},
};
use machine_tests::invoked::Charge;
use serde::{Deserialize, Serialize};

use order::Status;

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[invoke(charge, unattended)]
    #[on(accept(receipt) => Paid, by = GraphRunner)]
    #[on(refuse(why) => Unpaid, by = GraphRunner)]
    Paying { charge: Charge },
    #[terminal]
    Paid { receipt: String },
    #[terminal]
    Unpaid { why: CallError<String> },
}

struct Shop {
    /// The mistake: it takes a call that has ended for a payment.
    ended_is_paid: bool,
}

impl order::Handle for Shop {
    async fn paying(
        &self,
        order: Order<order::Paying>,
        outcome: Outcome<Charge>,
        task: &mut Task,
    ) -> Handled<AnyOrder> {
        let runner = &task.actors().graph_runner;
        Ok(match outcome {
            Ok(receipt) => Next::to(order.accept(receipt, runner)),
            Err(_) if self.ended_is_paid => Next::to(order.accept("no receipt".to_owned(), runner)),
            Err(why) => Next::to(order.refuse(why, runner)),
        })
    }
}

/// The test of a user, as a text for each finding.
async fn findings(ended_is_paid: bool) -> Vec<String> {
    let mut findings = Vec::new();
    let mut coverage = Coverage::of::<AnyOrder>();
    for (reply, expected) in [
        (Reply::applied("receipt 7"), Status::Paid),
        (Reply::refused("no money"), Status::Unpaid),
        (Reply::unknown("the line went dead"), Status::Paying),
    ] {
        let bank = TestTool::<Charge>::new().replies(reply.clone());
        let calls = bank.clone();
        let shop = TestEnvironment::new(move |worker| {
            worker.handler(order::Driver(Shop { ended_is_paid })).tool(bank.clone())
        });
        let order = shop.create(Order::new(Charge { cents: 500 })).await;
        shop.run_until_idle().await;
        let found = shop.load::<AnyOrder>(order).await.status();
        if found != expected {
            findings.push(format!("{reply:?}: {found:?} instead of {expected:?}"));
        }
        if calls.calls().len() != 1 {
            findings.push(format!("{reply:?}: {} calls", calls.calls().len()));
        }
        findings.extend(shop.failures());
        shop.cover(&mut coverage).await;
    }
    let missing = coverage.missing_transitions();
    findings.extend(missing.iter().map(|edge| format!("no test reaches {edge}")));
    findings
}

#[tokio::test(start_paused = true)]
async fn a_handler_without_a_mistake_passes() {
    assert_eq!(findings(false).await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_mistake_is_found() {
    let findings = findings(true).await;
    let first = r#"Refused("no money"): Paid instead of Unpaid"#;
    assert_eq!(findings.first().map(String::as_str), Some(first), "{findings:?}");
}
