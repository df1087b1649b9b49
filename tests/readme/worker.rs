//! The README's worker.

use std::time::Duration;

use machine::{
    Id,
    actor::{Actors, GraphRunner, Human},
    contract::{Answer, Applied, Call, CallError, Perform, Tool},
    machine,
    store::{Message, Store},
    worker::{Failure, Handled, Next, Task, Worker},
};
use serde::{Deserialize, Serialize};

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(price(charge) => Priced, by = GraphRunner)]
    Cart { items: Vec<String> },
    #[stable]
    #[on(buy => Paying, by = Human)]
    #[on(cancel(reason) => Cancelled, by = Human)]
    Priced { charge: Charge },
    #[invoke(charge, done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why) => Unpaid)]
    Paying { charge: Charge },
    #[terminal]
    Paid { receipt: String },
    #[terminal]
    Unpaid { why: CallError },
    #[terminal]
    Cancelled { reason: String },
}

#[derive(Debug, Clone, Serialize, Deserialize, Tool)]
#[tool(bank.charge, irreversible)]
struct Charge {
    cents: usize,
}

struct Bank;

impl Perform<Charge> for Bank {
    async fn perform(&self, _: &Call<Charge>) -> Answer {
        Ok(Applied::new("paid"))
    }
}

struct Shop;

impl Shop {
    async fn price(&self, items: &[String]) -> Result<Charge, Failure> {
        tokio::task::yield_now().await;
        Ok(Charge { cents: 100 * items.len() })
    }
}

// [README
impl order::Handle for Shop {
    async fn cart(&self, order: Order<order::Cart>, task: &mut Task) -> Handled<AnyOrder> {
        let charge = self.price(&order.state().items).await?;
        Ok(Next::to(order.price(charge, &task.actors().graph_runner)))
    }
}
// README]

#[tokio::test]
async fn it_drives() {
    let (store, ann) = (Store::memory(), Human::new("ann").unwrap());
    let mut order = Order::new(vec!["book".to_owned()]);
    store.create(&mut order).await.unwrap();
    let id = order.id();
    let (told, by) = (store.clone(), ann.clone());
    let ended = async move {
        let mut is_bought = false;
        loop {
            match told.load::<AnyOrder>(id).await.unwrap().status() {
                order::Status::Paid => break,
                order::Status::Priced if !is_bought => {
                    is_bought = true;
                    let buy = Message::new(&order::Event::Buy, &by).unwrap();
                    told.send(id, &buy).await.unwrap();
                }
                _ => tokio::time::sleep(Duration::from_millis(1)).await,
            }
        }
    };
    drive(store.clone(), Shop, Bank, ended).await.unwrap();
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
    let worker = Worker::new(&store, Actors::issue("worker")?);
    worker.handler(order::Driver(shop)).tool(bank).run_until(ctrl_c).await?;
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
