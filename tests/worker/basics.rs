use std::{sync::atomic::Ordering, time::Duration};

use machine::{
    actor::{Actors, Human},
    store::{Delivery, Message, Store},
    worker::Worker,
};

use crate::worker::shop::{AnyOrder, Bank, Order, Shop, order};

fn worker(store: &Store, bank: &Bank) -> Worker {
    Worker::new(store, Actors::issue("worker").unwrap())
        .handler(Shop(Actors::issue("shop").unwrap()))
        .tool(bank.clone())
}

async fn stores(folder: &std::path::Path) -> [Store; 2] {
    [Store::memory(), Store::sqlite(folder.join("agent.db")).await.unwrap()]
}

#[tokio::test]
async fn an_order_goes_its_way() {
    let folder = tempfile::tempdir().unwrap();
    for store in stores(folder.path()).await {
        let bank = Bank::default();
        let mut order = Order::new();
        store.create(&mut order).await.unwrap();
        let ann = Human::new("ann").unwrap();
        let message = Message::new(&order::Event::Confirm { amount: 17 }, &ann).unwrap();
        // Before the machine waits for it.
        store.send(order.id(), &message).await.unwrap();
        worker(&store, &bank).run_until_idle().await.unwrap();
        let loaded: AnyOrder = store.load(order.id()).await.unwrap();
        assert_eq!(loaded.status(), order::Status::Paid);
        assert_eq!(bank.0.load(Ordering::SeqCst), 1);
        let inbox = store.inbox(order.id()).await.unwrap();
        assert_eq!(inbox[0].as_ref().unwrap().status, Delivery::Handled);
        let history = store.history(order.id()).await.unwrap();
        let by: Vec<_> = history.entries.iter().map(|entry| entry.by.clone()).collect();
        assert!(by.iter().flatten().any(|by| &**by == "ann"), "{by:?}");
        assert!(store.verify_all(|_| ()).await.unwrap().problems.is_empty());
    }
}

#[tokio::test]
async fn a_deadline_fires() {
    let folder = tempfile::tempdir().unwrap();
    for store in stores(folder.path()).await {
        let bank = Bank::default();
        let mut order = Order::new();
        store.create(&mut order).await.unwrap();
        let running = worker(&store, &bank).start();
        let mut entries = store.subscribe(None).await.unwrap();
        loop {
            let entry = entries.next().await.unwrap();
            if format!("{:?}", entry.entry.fact).contains("cancelled") {
                break;
            }
        }
        tokio::time::timeout(Duration::from_secs(5), running.stop()).await.unwrap().unwrap();
    }
}
