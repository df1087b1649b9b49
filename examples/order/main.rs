//! A workflow of one's own on the worker. `order FILE 17 500` places the order 17 and pays 500 cents to
//! `FILE.bank`. Kill it at any moment: `order FILE` continues from there, and asks the bank if it is unknown
//! whether the payment was made.

use std::{env, fs, io::Write, path::PathBuf, time::Duration};

use anyhow::Context;
use machine::{
    actor::{Actors, GraphRunner},
    contract::{
        Answer, Applied, Attempt, Call, Contract, Irreversible, NotDone, Perform, Planned, Tool,
    },
    machine,
    store::{Query, Store},
    worker::{Failure, Handler, Next, Task, Worker},
};
use serde::{Deserialize, Serialize};

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(pay => Paying, by = GraphRunner)]
    Placed { charge: Charge },
    #[on(accept => Paid, by = GraphRunner)]
    #[on(refuse => Unpaid, by = GraphRunner)]
    Paying,
    #[terminal]
    Paid,
    #[terminal]
    Unpaid,
}

/// The irreversible action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
struct Bank(PathBuf);

impl Perform<Charge> for Bank {
    async fn perform(&self, call: &Call<Charge>) -> Answer {
        let Charge { order, cents } = call.arguments();
        let bank = fs::File::options().append(true).open(&self.0);
        let mut bank = bank.map_err(|_| NotDone::not_applied("the bank is closed"))?;
        bank.write_all(format!("{order}: {cents}\n").as_bytes())?;
        tokio::time::sleep(Duration::from_millis(50)).await; // it takes its time to answer
        Ok(Applied::new("paid"))
    }

    async fn find(&self, attempt: &Attempt<Charge>) -> Answer {
        let Charge { order, cents } = attempt.arguments();
        let line = format!("{order}: {cents}");
        let found = fs::read_to_string(&self.0)?.lines().any(|other| other == line);
        found.then(|| Applied::new("found")).ok_or(NotDone::not_applied("not found at the bank"))
    }
}

/// The handler of orders: the work of each state.
struct Shop;

impl Handler for Shop {
    type Machine = AnyOrder;

    async fn handle(&self, order: AnyOrder, task: &mut Task) -> Result<Next<AnyOrder>, Failure> {
        let runner = &task.actors().graph_runner;
        Ok(match order {
            // The payment is created in the batch that makes the order PAYING: there is one, once.
            AnyOrder::Placed(order) => {
                let charge = Contract::of(&order.state().charge, &task.actors().reasoning_node)?;
                let order = order.pay(runner);
                task.call(Planned::<Charge>::new(charge)?);
                Next::to(order)
            }
            // The worker runs it. In doubt it asks the bank, and the order waits.
            AnyOrder::Paying(order) => match task.joined().await?.as_deref() {
                Some([payment]) if payment.status == "completed" => Next::to(order.accept(runner)),
                Some(_) => Next::to(order.refuse(runner)),
                None => Next::Wait,
            },
            AnyOrder::Paid(_) | AnyOrder::Unpaid(_) => Next::Wait,
        })
    }
}

#[allow(clippy::print_stdout, reason = "it is a program")]
#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let words: Vec<String> = env::args().collect();
    let file = PathBuf::from(words.get(1).context("order FILE [NUMBER CENTS]")?);
    let store = Store::sqlite(&file).await?;
    if let [_, _, order, cents] = &words[..] {
        let charge = Charge { order: order.parse()?, cents: cents.parse()? };
        store.create(&mut Order::new(charge)).await?;
    }
    Worker::new(&store, Actors::issue("shop")?)
        .handler(Shop)
        .tool(Bank(file.with_extension("bank")))
        .run_until_idle()
        .await?;
    for order in store.load_all::<AnyOrder>(&Query::new()).await?.items {
        println!("{}", order?.status());
    }
    Ok(())
}
