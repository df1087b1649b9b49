//! A shop whose sales are tested.

use std::time::Duration;

use machine::{
    actor::{GraphRunner, Human},
    contract::{Contract, Planned, Tool},
    machine,
    worker::{Handled, Handler, Next, OwnCall, Task},
};
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
    #[on(pay => Paying, by = GraphRunner)]
    Confirmed { cents: u32 },
    #[on(accept => Paid, by = GraphRunner)]
    #[on(refuse => Unpaid, by = GraphRunner)]
    Paying,
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
    #[on(refund(charge) => Refunded, by = Human)]
    Asked,
    #[terminal]
    Refunded { charge: Charge },
}

/// Takes money.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
#[tool(bank.charge, irreversible)]
pub(super) struct Charge {
    pub(super) cents: u32,
}

/// The handler fails at sales of this price.
pub(super) const BROKEN: u32 = 13;

pub(super) struct Shop;

impl Handler for Shop {
    type Machine = AnySale;

    async fn handle(&self, sale: AnySale, task: &mut Task) -> Handled<AnySale> {
        let runner = &task.actors().graph_runner;
        Ok(match sale {
            AnySale::Confirmed(sale) => {
                let cents = sale.state().cents;
                if cents == BROKEN {
                    return Err("the till is broken".into());
                }
                let charge = Contract::of(&Charge { cents }, &task.actors().reasoning_node)?;
                let sale = sale.pay(runner);
                task.call(Planned::<Charge>::new(charge)?);
                Next::to(sale)
            }
            AnySale::Paying(sale) => {
                let payment = task.calls::<Charge>().await?.pop();
                match payment.and_then(OwnCall::into_outcome) {
                    Some(Ok(_)) => Next::to(sale.accept(runner)),
                    Some(Err(_)) => Next::to(sale.refuse(runner)),
                    None => Next::Wait,
                }
            }
            AnySale::Open(_) | AnySale::Paid(_) | AnySale::Unpaid(_) | AnySale::Expired(_) => {
                Next::Wait
            }
        })
    }
}
