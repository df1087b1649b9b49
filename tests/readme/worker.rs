//! The README's worker.

use std::time::Duration;

use machine::{
    Id,
    actor::{Actors, GraphRunner, Human, ReasoningNode},
    contract::{Answer, Applied, Call, Contract, Irreversible, Perform, Planned, Tool},
    machine,
    store::{Message, Store},
    worker::{Failure, Handler, Next, Task, Worker},
};
use serde::{Deserialize, Serialize};

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(pay => Paying, by = GraphRunner)]
    Placed { cents: u32 },
    #[on(accept => Paid, by = GraphRunner)]
    #[on(refuse => Unpaid, by = GraphRunner)]
    #[on(cancel(reason: String) => Unpaid, by = Human | GraphRunner)]
    Paying,
    #[terminal]
    Paid,
    #[terminal]
    Unpaid,
}

#[derive(Serialize, Deserialize)]
struct Charge {
    order: Id,
    cents: u32,
}

impl Tool for Charge {
    const SERVICE: &'static str = "bank";
    const METHOD: &'static str = "charge";
    type Effect = Irreversible;
    type Receipt = String;
}

struct Bank;

impl Perform<Charge> for Bank {
    async fn perform(&self, _: &Call<Charge>) -> Answer {
        Ok(Applied::new("paid"))
    }
}

struct Shop {
    runner: GraphRunner,
    reasoner: ReasoningNode,
}

// [README
impl Handler for Shop {
    type Machine = AnyOrder;

    async fn handle(&self, order: AnyOrder, task: &mut Task) -> Result<Next<AnyOrder>, Failure> {
        Ok(match order {
            AnyOrder::Placed(order) => {
                let payment = Charge { order: order.id(), cents: order.state().cents };
                let contract = Contract::of(&payment, &self.reasoner)?;
                task.call(Planned::<Charge>::new(contract)?);
                Next::to(order.pay(&self.runner)) // one batch
            }
            AnyOrder::Paying(order) => match task.joined().await?.as_deref() {
                Some([payment]) if payment.status == "completed" => {
                    Next::to(order.accept(&self.runner))
                }
                Some(_) => Next::to(order.refuse(&self.runner)),
                None => Next::Wait, // until the payment has ended
            },
            AnyOrder::Paid(_) | AnyOrder::Unpaid(_) => Next::Wait,
        })
    }
}
// README]

#[tokio::test]
async fn it_drives() {
    let store = Store::memory();
    let Actors { graph_runner: runner, reasoning_node: reasoner, .. } =
        Actors::issue("shop").unwrap();
    let mut order = Order::new(500);
    store.create(&mut order).await.unwrap();
    let id = order.id();
    let ended = async {
        while store.load::<AnyOrder>(id).await.unwrap().status() != order::Status::Paid {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    drive(store.clone(), Shop { runner, reasoner }, Bank, ended).await.unwrap();
    let ann = Human::new("ann").unwrap();
    let too_late = tell(&store, id, "changed my mind".to_owned(), ann).await.unwrap_err();
    assert!(too_late.to_string().contains("has ended"), "{too_late}");
}

async fn drive(
    store: Store,
    shop: Shop,
    bank: Bank,
    ctrl_c: impl Future<Output = ()> + Send,
) -> Result<(), Failure> {
    // [README
    let worker = Worker::new(&store, Actors::issue("worker")?).handler(shop).tool(bank);
    worker.run_until(ctrl_c).await?;
    // README]
    Ok(())
}

async fn tell(store: &Store, id: Id, reason: String, ann: Human) -> Result<(), Failure> {
    // [README
    // From an HTTP handler, a command line, another process: one of the machine's own events.
    store.send(id, &Message::new(&order::Event::Cancel { reason }, &ann)?).await?;
    // README]
    Ok(())
}
