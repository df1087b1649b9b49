//! An order from its message to its payment, and a deadline that a running worker fires.

use machine::contract::execution::Completed;

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
    #[on(accept => Paid, by = GraphRunner)]
    #[on(refuse => Cancelled, by = GraphRunner)]
    Paying { amount: u32 },
    #[terminal]
    Paid,
    #[terminal]
    Cancelled,
}

fn shop() -> Does<AnyOrder> {
    does(|order: AnyOrder, task| {
        Box::pin(async move {
            let by = &task.actors().graph_runner;
            Ok(match order {
                AnyOrder::Placed(order) => Next::to(order.check(by)),
                AnyOrder::Paying(order) => match &task.children().await?[..] {
                    [] => {
                        let payment = Planned::<Charge>::new(charge(order.state().amount))?;
                        task.child(payment.into_execution());
                        Next::Wait
                    }
                    [payment] if !payment.has_ended => Next::Wait,
                    [payment] if payment.is_in::<Completed>() => Next::to(order.accept(by)),
                    _ => Next::to(order.refuse(by)),
                },
                AnyOrder::Asking(_) | AnyOrder::Paid(_) | AnyOrder::Cancelled(_) => Next::Wait,
            })
        })
    })
}

#[test]
fn an_order_goes_its_way() {
    each(async |store| {
        let (id, bank) = (create(&store, Order::new()).await, Service::default());
        // Before the machine waits for it.
        let confirm = Message::new(&order::Event::Confirm { amount: 17 }, ann()).unwrap();
        store.send(id, &confirm).await.unwrap();
        settle(worker(&store).handler(shop()).tool::<Charge>(bank.clone())).await;
        is(&store, id, "paid").await;
        assert_eq!(bank.calls(), 1);
        assert_eq!(inbox(&store, id).await[0].status, Delivery::Handled);
        let history = store.history(id).await.unwrap();
        assert!(history.entries.iter().any(|entry| entry.by.as_deref() == Some("ann")));
    });
}

#[test]
fn a_deadline_fires() {
    in_real_time(async |store| {
        let id = create(&store, Order::new()).await;
        let running = worker(&store).handler(shop()).tool::<Charge>(Service::default()).start();
        until("it expires", async || state(&store, id).await == "cancelled").await;
        tokio::time::timeout(STUCK, running.stop()).await.unwrap().unwrap();
    });
}
