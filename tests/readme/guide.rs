//! A claim for a refund.

use machine::prelude::*;
use serde::{Deserialize, Serialize};

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Claim {
    #[initial]
    #[invoke(refund, approve, done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why: CallError) =>
        match why { CallError::NotApplied(_) => Asked, why => Refused(why) })]
    Asked { refund: Refund },
    #[terminal]
    Paid { receipt: String },
    #[terminal]
    Refused { why: CallError },
}

/// The irreversible action. Its fields are the arguments.
#[derive(Debug, Clone, Serialize, Deserialize, Tool)]
#[tool(bank.refund, irreversible, receipt = String, refusal = String, identity = order)]
struct Refund {
    order: u32,
    cents: u32,
}

fn payable(refund: &Refund) -> Result<&Refund, String> {
    if refund.cents > 1000 { Err("more than 10.00".to_owned()) } else { Ok(refund) }
}

struct Bank; // your client
impl Perform<Refund> for Bank {
    async fn perform(&self, call: &Call<Refund>) -> Answer {
        let refund = payable(&call.arguments).or_refused()?; // an error: nothing has happened
        tokio::time::sleep(std::time::Duration::from_secs(5)).await; // the bank takes its time
        Ok(Applied::new(format!("transfer for order {}", refund.order))) // `?` alone: unknown
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let store = Store::sqlite("claims.db").await?;
    if let Some(order) = std::env::args().nth(1) {
        let refund = Refund { order: order.parse()?, cents: 500 };
        store.create(&mut Claim::new(refund)).await?; // and the question whether to pay it
    }
    let worker = Worker::new(&store, Actors::issue("desk")?).machine::<AnyClaim>().tool(Bank);
    worker.on_error(|failed| eprintln!("{failed}")).run_until_idle().await?; // or `run_until(stop)`
    Ok(())
}
