//! `order FILE 17 500` places the order 17 and pays 500 cents to `FILE.bank`. Kill it at any
//! moment: `order FILE` continues from there, and asks the bank if it is unknown whether the
//! payment was made. If it was not, place it again.

use std::{env, fs, io::Write, path::PathBuf, process, time::Duration};

use machine::prelude::*;
use serde::{Deserialize, Serialize};

#[cfg(test)]
mod kit;

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(place(charge) => Paying, by = Human)]
    Cart,
    #[invoke(charge, done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why: CallError<Declined>) =>
        match why { CallError::NotApplied(_) => Cart, why => Unpaid(why) })]
    Paying { charge: Charge },
    #[terminal]
    Paid { receipt: String },
    #[terminal]
    Unpaid { why: CallError<Declined> },
}

/// The irreversible action. What was written to a file is there at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
#[tool(bank.charge, irreversible, refusal = Declined, settling_time = Duration::ZERO)]
struct Charge {
    order: u32,
    cents: u32,
}

/// Why the bank does not pay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
enum Declined {
    #[error("the bank is closed")]
    Closed,
    #[error("not found at the bank")]
    NotFound,
}

/// A bank that is a file. If there is none, the bank is closed.
struct Bank(PathBuf);

impl Perform<Charge> for Bank {
    async fn perform(&self, call: &Call<Charge>) -> Answer<String, Declined> {
        let Charge { order, cents } = &call.arguments;
        let bank = fs::File::options().append(true).open(&self.0);
        let mut bank = bank.map_err(|_| Declined::Closed).or_refused()?;
        bank.write_all(format!("{order}: {cents}\n").as_bytes())?;
        tokio::time::sleep(Duration::from_millis(50)).await; // it takes its time to answer
        Ok(Applied::new("charged"))
    }

    async fn find(&self, attempt: &Attempt<Charge>) -> Answer<String, Declined> {
        let Charge { order, cents } = &attempt.arguments;
        let found = fs::read_to_string(&self.0)?.lines().any(|l| l == format!("{order}: {cents}"));
        found.then(|| Applied::new("found")).ok_or(Declined::NotFound).or_refused()
    }
}

#[allow(clippy::print_stdout, reason = "it is a program")]
#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let words: Vec<String> = env::args().collect();
    let file = PathBuf::from(words.get(1).map_or("", String::as_str));
    if !matches!(words.len(), 2 | 4) || file.extension() == Some("bank".as_ref()) {
        eprintln!("usage: order FILE [NUMBER CENTS]; FILE must not end with .bank");
        process::exit(2);
    }
    let store = Store::sqlite(&file).await?;
    if let [_, _, order, cents] = &words[..] {
        let charge = Charge { order: order.parse()?, cents: cents.parse()? };
        let customer = Human::new("customer")?;
        let cart = Query::new().status(order::Status::Cart.as_str());
        let carts = store.load_all::<AnyOrder>(&cart).await?.items;
        match carts.into_iter().next().transpose()? {
            Some(AnyOrder::Cart(cart)) => store.commit(&mut cart.place(charge, &customer)).await?,
            _ => store.create(&mut Order::new().place(charge, &customer)).await?,
        }
    }
    let worker = Worker::new(&store, Actors::issue("shop")?).machine::<AnyOrder>();
    worker.tool(Bank(file.with_extension("bank"))).run_until_idle().await?;
    for order in store.load_all::<AnyOrder>(&Query::new()).await?.items {
        println!("{}", order?.status());
    }
    Ok(())
}
