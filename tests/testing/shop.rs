//! A shop whose sales are tested.

use std::time::Duration;

use machine::{
    actor::{GraphRunner, Human},
    contract::Outcome,
    machine,
    worker::{Handled, Next, Task},
};
pub(super) use machine_tests::invoked::Charge;
use serde::{Deserialize, Serialize};

/// A sale.
#[machine(durable)]
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Sale {
    #[initial]
    #[stable]
    #[on(confirm => Confirmed, by = Human)]
    #[on(expire => Expired, by = GraphRunner, after = Duration::from_hours(24 * 7))]
    Open { cents: u32 },
    #[on(pay(charge = Charge { cents }) => Paying, by = GraphRunner)]
    Confirmed { cents: u32 },
    #[invoke(charge)]
    #[on(accept => Paid, by = GraphRunner)]
    #[on(refuse => Unpaid, by = GraphRunner)]
    Paying { charge: Charge },
    #[terminal]
    Paid,
    #[terminal]
    Unpaid,
    #[terminal]
    Expired,
}

/// A return, whose payload has a type of its own.
#[machine(durable)]
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Returned {
    #[initial]
    #[on(refund(charge) => Refunded, by = Human, guard = was_paid -> String)]
    Asked,
    #[terminal]
    Refunded { charge: Charge },
}

fn was_paid(_: &returned::Asked, charge: &Charge) -> Result<(), String> {
    if charge.cents > 0 { Ok(()) } else { Err("nothing was paid".to_owned()) }
}

/// A visa, whose reminders begin in 1970.
#[machine(durable)]
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Visa {
    #[initial]
    #[stable]
    #[on(remind(until = until + step, reminders = reminders + 1) => Valid, by = GraphRunner,
        at = until)]
    #[on(leave => Left, by = GraphRunner)]
    Valid { until: i64, step: i64, reminders: u32 },
    #[terminal]
    Left,
}

/// The handler fails at sales of this price.
pub(super) const BROKEN: u32 = 13;

/// Takes money.
pub(super) struct Shop {
    /// A mistake that people make: it takes a call that has ended for a payment.
    pub(super) ended_is_paid: bool,
}

impl sale::Handle for Shop {
    async fn confirmed(&self, sale: Sale<sale::Confirmed>, task: &mut Task) -> Handled<AnySale> {
        if sale.state().cents == BROKEN {
            return Err("the till is broken".into());
        }
        Ok(Next::to(sale.pay(&task.actors().graph_runner)))
    }

    async fn paying(
        &self,
        sale: Sale<sale::Paying>,
        outcome: Outcome<Charge>,
        task: &mut Task,
    ) -> Handled<AnySale> {
        let runner = &task.actors().graph_runner;
        Ok(match outcome {
            Err(_) if !self.ended_is_paid => Next::to(sale.refuse(runner)),
            _ => Next::to(sale.accept(runner)),
        })
    }
}
