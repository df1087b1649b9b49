//! A machine of several states, and its handler.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use machine::{
    actor::{GraphRunner, Human},
    contract::{Answer, Applied, Call, Contract, Irreversible, Perform, Planned, Tool},
    machine,
    worker::{Failure, Handler, Next, Task},
};
use serde::{Deserialize, Serialize};

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Order {
    #[initial]
    #[on(check => Asking, by = GraphRunner)]
    Placed,
    #[stable]
    #[on(confirm(amount) => Paying, by = Human)]
    #[on(cancel(reason) => Cancelled, by = GraphRunner | Human)]
    #[on(expire => Cancelled(reason = "expired".to_owned()), by = GraphRunner,
        after = Duration::from_millis(300))]
    Asking,
    #[on(accept => Paid, by = GraphRunner)]
    #[on(refuse => Cancelled(reason = "refused".to_owned()), by = GraphRunner)]
    #[on(cancel(reason) => Cancelled, by = GraphRunner | Human)]
    Paying { amount: u32 },
    #[terminal]
    Paid,
    #[terminal]
    Cancelled { reason: String },
}

/// The irreversible action.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Charge {
    pub(crate) cents: u32,
}

impl Tool for Charge {
    const SERVICE: &'static str = "bank";
    const METHOD: &'static str = "charge";
    type Effect = Irreversible;
    type Receipt = String;
}

#[derive(Clone, Default)]
pub(crate) struct Bank(pub(crate) Arc<AtomicUsize>);

impl Perform<Charge> for Bank {
    async fn perform(&self, _: &Call<Charge>) -> Answer {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(Applied::new("paid"))
    }
}

pub(crate) struct Shop(pub(crate) machine::actor::Actors);

impl Handler for Shop {
    type Machine = AnyOrder;

    async fn handle(&self, order: AnyOrder, task: &mut Task) -> Result<Next<AnyOrder>, Failure> {
        let by = &self.0.graph_runner;
        Ok(match order {
            AnyOrder::Placed(order) => Next::to(order.check(by)),
            AnyOrder::Paying(order) => match &task.children().await?[..] {
                [] => {
                    let charge = Charge { cents: order.state().amount };
                    let contract = Contract::of(&charge, &self.0.reasoning_node)?;
                    task.child(Planned::<Charge>::new(contract)?.into_execution());
                    Next::Wait
                }
                [payment] if !payment.has_ended => Next::Wait,
                [payment] if payment.status == "completed" => Next::to(order.accept(by)),
                _ => Next::to(order.refuse(by)),
            },
            AnyOrder::Asking(_) | AnyOrder::Paid(_) | AnyOrder::Cancelled(_) => Next::Wait,
        })
    }
}
