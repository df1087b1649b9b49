//! An order from its message to its payment, and a deadline that a running worker fires.

use machine::{
    contract::Outcome,
    worker::{Handled, Task},
};

use crate::worker::prelude::*;

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(check => Asking, by = GraphRunner)]
    Placed,
    #[stable]
    #[on(confirm(amount) => Paying, by = Human)]
    #[on(expire => Cancelled, by = GraphRunner, after = Duration::from_millis(100))]
    Asking,
    #[invoke(payment: Charge = Charge { cents: amount })]
    #[on(accept => Paid, by = GraphRunner)]
    #[on(refuse => Cancelled, by = GraphRunner)]
    Paying { amount: u32 },
    #[terminal]
    Paid,
    #[terminal]
    Cancelled,
}

struct Shop;

impl order::Handle for Shop {
    async fn placed(&self, order: Order<order::Placed>, task: &mut Task) -> Handled<AnyOrder> {
        Ok(Next::to(order.check(&task.actors().graph_runner)))
    }

    async fn paying(
        &self,
        order: Order<order::Paying>,
        outcome: Outcome<Charge>,
        task: &mut Task,
    ) -> Handled<AnyOrder> {
        let by = &task.actors().graph_runner;
        Ok(match outcome {
            Ok(_) => Next::to(order.accept(by)),
            Err(_) => Next::to(order.refuse(by)),
        })
    }
}

fn shop(store: &Store, bank: &Service) -> Worker {
    worker(store).handler(order::Driver(Shop)).tool::<Charge>(bank.clone())
}

#[test]
fn an_order_goes_its_way() {
    each(async |store| {
        let (id, bank) = (create(&store, Order::new()).await, Service::default());
        // Before the machine waits for it.
        let confirm = Message::new(&order::Event::Confirm { amount: 17 }, ann()).unwrap();
        store.send(id, &confirm).await.unwrap();
        settle(shop(&store, &bank)).await;
        is(&store, id, "paid").await;
        assert_eq!(bank.calls(), 1);
        // The confirmation, and the outcome of the payment.
        let statuses: Vec<_> = inbox(&store, id).await.iter().map(|it| it.status).collect();
        assert_eq!(statuses, [Delivery::Handled; 2]);
        let history = store.history(id).await.unwrap();
        assert!(history.entries.iter().any(|entry| entry.by.as_deref() == Some("ann")));
    });
}

#[test]
fn a_deadline_fires() {
    in_real_time(async |store| {
        let id = create(&store, Order::new()).await;
        let running = shop(&store, &Service::default()).start();
        until("it expires", async || state(&store, id).await == "cancelled").await;
        tokio::time::timeout(STUCK, running.stop()).await.unwrap().unwrap();
    });
}
