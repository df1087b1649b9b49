//! A workflow of one's own, and its irreversible action, move in one batch. `order FILE 17 500` places
//! the order 17 and pays 500 cents to `FILE.bank`. Kill it at any moment: `order FILE` goes on from
//! there, and asks the bank if nobody knows whether the payment took place.

use std::{env, fs, io::Write, path::PathBuf, time::Duration};

use anyhow::Context;
use machine::{
    Id,
    actor::{Actors, GraphRunner},
    contract::{
        AnyExecution, Applied, Attempt, Call, Contract, Evidence, Irreversible, NotDone, Perform,
        Planned, Tool,
    },
    machine,
    store::{Begin, Query, Settle, Store},
};
use serde::{Deserialize, Serialize};

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(pay => Paying, by = GraphRunner)]
    Placed { payment: Id },
    #[on(accept => Paid, by = GraphRunner)]
    #[on(refuse => Unpaid, by = GraphRunner)]
    Paying { payment: Id },
    #[terminal]
    Paid,
    #[terminal]
    Unpaid,
}

/// The irreversible action.
#[derive(Debug, Serialize, Deserialize)]
struct Charge {
    order: u32,
    cents: u32,
}

impl Tool for Charge {
    const SERVICE: &'static str = "bank";
    const METHOD: &'static str = "charge";
    type Effect = Irreversible;
    type Receipt = String;
    const SETTLING_TIME: Duration = Duration::ZERO; // what was written to a file is there at once
}

/// A bank that is a file. If there is none, the bank is closed.
#[derive(Clone)]
struct Bank(PathBuf);

impl Perform<Charge> for Bank {
    async fn perform(&self, call: &Call<Charge>) -> Result<Applied, NotDone> {
        let Charge { order, cents } = call.arguments();
        let bank = fs::File::options().append(true).open(&self.0);
        let mut bank = bank.map_err(|_| NotDone::not_applied("the bank is closed"))?;
        bank.write_all(format!("{order}: {cents}\n").as_bytes())?;
        tokio::time::sleep(Duration::from_millis(50)).await; // it takes its time to answer
        Ok(Applied::new("paid"))
    }

    async fn find(&self, attempt: &Attempt<Charge>) -> Result<Applied, NotDone> {
        let Charge { order, cents } = attempt.arguments();
        let line = format!("{order}: {cents}");
        let found = fs::read_to_string(&self.0)?.lines().any(|other| other == line);
        found.then(|| Applied::new("found")).ok_or(NotDone::not_applied("not found at the bank"))
    }
}

#[allow(clippy::print_stdout, reason = "it is a program")]
#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let words: Vec<String> = env::args().collect();
    let file = PathBuf::from(words.get(1).context("order FILE [NUMBER CENTS]")?);
    let (store, actors) = (Store::sqlite(&file).await?, Actors::issue("shop")?);
    let bank = Bank(file.with_extension("bank"));
    if let [_, _, order, cents] = &words[..] {
        let charge = Charge { order: order.parse()?, cents: cents.parse()? };
        let mut payment = Planned::<Charge>::new(Contract::of(&charge, &actors.reasoning_node)?)?;
        let mut order = Order::new(payment.id());
        store.batch().create(&mut order).create(payment.machine()).write().await?;
    }
    for doubt in store.recover().await?.in_doubt {
        drop(store.ask_service(doubt, &bank, &actors.tool_node).await?);
    }
    for order in store.load_all(&Query::new()).await?.items {
        let mut order: AnyOrder = match order? {
            AnyOrder::Placed(order) => {
                // The order says PAYING if and only if the payment has its permit.
                let payment = store.planned::<Charge>(order.state().payment).await?;
                let mut begin = Begin::new(payment, &actors.tool_node);
                let mut order = order.pay(&actors.graph_runner);
                store.batch().commit(&mut order).begin(&mut begin).write().await?;
                let (running, permit) = begin.begun().context("the batch has begun it")?;
                let outcome = permit.call(bank.clone()).await;
                // They end together, too. If the outcome is unknown, both wait.
                let mut order = match outcome.evidence() {
                    Evidence::Applied(_) => order.accept(&actors.graph_runner).into(),
                    Evidence::NotApplied(_) => order.refuse(&actors.graph_runner).into(),
                    Evidence::Unknown(_) => AnyOrder::from(order),
                };
                let mut settle = Settle::new(running, outcome, &actors.tool_node);
                store.batch().commit(&mut order).settle(&mut settle).write().await?;
                order
            }
            // The payment was in doubt. If the bank has settled that, the order follows.
            AnyOrder::Paying(order) => match store.load(order.state().payment).await? {
                AnyExecution::Completed(_) => order.accept(&actors.graph_runner).into(),
                AnyExecution::Failed(_) => order.refuse(&actors.graph_runner).into(),
                _ => order.into(),
            },
            ended => ended,
        };
        store.commit(&mut order).await?;
        println!("{}", order.status());
    }
    Ok(())
}
