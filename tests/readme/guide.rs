//! A claim for a refund.

use machine::actor::{Actors, GraphRunner};
use machine::contract::{Answer, Applied, Call, Contract, Irreversible, Perform, Tool};
use machine::store::Store;
use machine::worker::{Failure, Handler, Next, Task, Worker};
use serde::{Deserialize, Serialize};

#[machine::machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Claim {
    #[initial]
    #[on(ask => Asked, by = GraphRunner)]
    Filed { refund: Refund },
    #[on(pay => Paid, by = GraphRunner)]
    #[on(refuse => Refused, by = GraphRunner)]
    Asked,
    #[terminal]
    Paid,
    #[terminal]
    Refused,
}

/// The irreversible action. Its fields are the arguments.
#[derive(Debug, Serialize, Deserialize)]
struct Refund {
    order: u32,
    cents: u32,
}

impl Tool for Refund {
    const SERVICE: &'static str = "bank";
    const METHOD: &'static str = "refund";
    type Effect = Irreversible;
    type Receipt = String;
}

struct Bank; // your client

impl Perform<Refund> for Bank {
    async fn perform(&self, call: &Call<Refund>) -> Answer {
        Ok(Applied::new(format!("transfer for order {}", call.arguments().order)))
    }
}

struct Desk(Actors);

impl Handler for Desk {
    type Machine = AnyClaim;

    async fn handle(&self, claim: AnyClaim, task: &mut Task) -> Result<Next<AnyClaim>, Failure> {
        let by = &self.0.graph_runner;
        Ok(match claim {
            AnyClaim::Filed(claim) => {
                let contract = Contract::of(&claim.state().refund, &self.0.reasoning_node)?;
                task.ask::<Refund>(contract, None)?; // in the batch of the transition
                Next::to(claim.ask(by))
            }
            AnyClaim::Asked(claim) => match task.joined().await?.as_deref() {
                Some([refund]) if refund.status == "completed" => Next::to(claim.pay(by)),
                Some(_) => Next::to(claim.refuse(by)),
                None => Next::Wait,
            },
            AnyClaim::Paid(_) | AnyClaim::Refused(_) => Next::Wait,
        })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let store = Store::sqlite("claims.db").await?;
    if let Some(order) = std::env::args().nth(1) {
        let refund = Refund { order: order.parse()?, cents: 500 };
        store.create(&mut Claim::new(refund)).await?;
    }
    let desk = Desk(Actors::issue("desk")?);
    let worker = Worker::new(&store, Actors::issue("worker")?).handler(desk).tool::<Refund>(Bank);
    worker.run_until_idle().await?; // a server calls `run_until(stop)`
    Ok(())
}
