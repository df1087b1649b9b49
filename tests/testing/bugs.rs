//! Copies of a handler that makes its call itself, each with a mistake that people make: the kit finds it.

use machine::{
    actor::GraphRunner,
    contract::{CallError, Contract, Planned, Tool},
    machine,
    testing::{Coverage, Reply, TestEnvironment, TestTool},
    worker::{Handled, Handler, Next, OwnCall, Task},
};
use serde::{Deserialize, Serialize};

use order::Status;

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(pay => Paying, by = GraphRunner)]
    Placed { charge: Charge },
    #[on(accept(receipt) => Paid, by = GraphRunner)]
    #[on(refuse(why) => Unpaid, by = GraphRunner)]
    Paying,
    #[terminal]
    Paid { receipt: String },
    #[terminal]
    Unpaid { why: CallError<String> },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
#[tool(bank.charge, irreversible)]
struct Charge {
    cents: u32,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Mistake {
    /// It takes a call that has ended for a payment.
    EndedIsPaid,
    /// It takes a call without an outcome for one that was not applied.
    DoubtIsUnpaid,
    /// It calls again after a refusal.
    CallsInPaying,
}

/// The handler, with a mistake or without.
struct Shop(Option<Mistake>);

impl Handler for Shop {
    type Machine = AnyOrder;

    async fn handle(&self, order: AnyOrder, task: &mut Task) -> Handled<AnyOrder> {
        use Mistake::{CallsInPaying, DoubtIsUnpaid, EndedIsPaid};

        let runner = &task.actors().graph_runner;
        Ok(match order {
            AnyOrder::Placed(order) => {
                let charge = Contract::of(&order.state().charge, &task.actors().reasoning_node)?;
                let order = order.pay(runner);
                task.call(Planned::<Charge>::new(charge)?);
                Next::to(order)
            }
            AnyOrder::Paying(order) => {
                let mut payments = task.calls::<Charge>().await?;
                let calls = payments.len();
                match payments.pop().and_then(OwnCall::into_outcome) {
                    Some(Ok(receipt)) => Next::to(order.accept(receipt, runner)),
                    Some(Err(_)) if self.0 == Some(EndedIsPaid) => {
                        Next::to(order.accept("no receipt".to_owned(), runner))
                    }
                    Some(Err(_)) if self.0 == Some(CallsInPaying) && calls == 1 => {
                        let again = Charge { cents: 500 };
                        let again = Contract::of(&again, &task.actors().reasoning_node)?;
                        task.call(Planned::<Charge>::new(again)?);
                        Next::Wait
                    }
                    Some(Err(why)) => Next::to(order.refuse(why, runner)),
                    None if self.0 == Some(DoubtIsUnpaid) => {
                        Next::to(order.refuse(CallError::Expired, runner))
                    }
                    None => Next::Wait,
                }
            }
            AnyOrder::Paid(_) | AnyOrder::Unpaid(_) => Next::Wait,
        })
    }
}

/// The test of a user, as a text for each finding.
async fn findings(mistake: Option<Mistake>) -> Vec<String> {
    let mut findings = Vec::new();
    let mut coverage = Coverage::of::<AnyOrder>();
    for (reply, expected) in [
        (Reply::applied("receipt 7"), Status::Paid),
        (Reply::refused("no money"), Status::Unpaid),
        (Reply::unknown("the line went dead"), Status::Paying),
    ] {
        let bank = TestTool::<Charge>::new().replies(reply.clone());
        let calls = bank.clone();
        let shop =
            TestEnvironment::new(move |worker| worker.handler(Shop(mistake)).tool(bank.clone()));
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
    assert_eq!(findings(None).await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn each_mistake_is_found() {
    for (mistake, first) in [
        (Mistake::EndedIsPaid, r#"Refused("no money"): Paid instead of Unpaid"#),
        (Mistake::DoubtIsUnpaid, r#"Applied("receipt 7"): Unpaid instead of Paid"#),
        (Mistake::CallsInPaying, r#"Refused("no money"): 2 calls"#),
    ] {
        let findings = findings(Some(mistake)).await;
        assert_eq!(findings.first().map(String::as_str), Some(first), "{mistake:?}: {findings:?}");
    }
}
