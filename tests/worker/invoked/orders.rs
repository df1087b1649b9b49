//! One irreversible call: its outcome moves the machine, and nothing else takes its place.

use std::{sync::Arc, sync::OnceLock, time::Duration};

use machine::{
    Id,
    actor::{GraphRunner, Human},
    contract::{AnyExecution, Applied, Call, CallError, Gate, Perform, ToolAnswer},
    machine,
    store::{Message, Received, Store},
    testing::{Coverage, Reply, TestEnvironment, TestTool},
};
use serde::{Deserialize, Serialize};

pub(super) use machine_tests::invoked::Charge;
use order::{Event, Status};

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Order {
    #[initial]
    #[on(place(charge) => Paying, by = Human)]
    Cart,
    #[invoke(charge, done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why) => Unpaid)]
    #[on(cancel => Cancelled, by = Human)]
    #[on(pause => Paused, by = Human, detach)]
    #[on(stop => Cancelled, by = Human, detach)]
    #[on(again => Paying, by = Human)]
    #[on(late => Cancelled, by = GraphRunner, after = Duration::from_secs(60))]
    Paying { charge: Charge },
    #[stable]
    #[on(resume => Paying, by = Human)]
    #[on(cancel => Cancelled, by = Human)]
    #[on(stop => Cancelled, by = Human, detach)]
    Paused { charge: Charge },
    #[terminal]
    Paid { receipt: String },
    #[terminal]
    Unpaid { why: CallError<String> },
    #[terminal]
    Cancelled,
}

/// A bank that sends its customer's events to the order while it charges.
#[derive(Clone, Default)]
struct Interrupted(Arc<OnceLock<(Store, Id, Vec<Event>)>>);

impl Perform<Charge> for Interrupted {
    async fn perform(&self, _: &Call<Charge>) -> ToolAnswer<Charge> {
        let (store, order, events) = self.0.get().unwrap();
        for event in events {
            let event = Message::new(event, &Human::new("ann").unwrap()).unwrap();
            store.send(*order, &event).await.unwrap();
        }
        Ok(Applied::new("receipt 7"))
    }
}

/// A shop, and an order whose bank is interrupted by these events.
pub(super) async fn interrupted_by(events: impl Into<Vec<Event>>) -> (TestEnvironment, Id) {
    let bank = Interrupted::default();
    let service = bank.clone();
    let shop = TestEnvironment::new(move |worker| {
        worker.machine::<AnyOrder>().tool::<Charge>(service.clone())
    });
    let order = shop.create(AnyOrder::from(Order::new())).await;
    assert!(bank.0.set((shop.store().clone(), order, events.into())).is_ok());
    send(&shop, order, &place()).await;
    (shop, order)
}

pub(super) fn shop(bank: &TestTool<Charge>) -> TestEnvironment {
    let bank = bank.clone();
    TestEnvironment::new(move |worker| worker.machine::<AnyOrder>().tool(bank.clone()))
}

pub(super) fn place() -> Event {
    Event::Place { charge: Charge { cents: 500 } }
}

pub(super) async fn ordered(shop: &TestEnvironment, event: &Event) -> Id {
    let order = shop.create(AnyOrder::from(Order::new())).await;
    send(shop, order, event).await;
    order
}

pub(super) async fn send(shop: &TestEnvironment, order: Id, event: &Event) {
    shop.send(order, event, &shop.person("ann")).await;
    shop.run_until_idle().await;
}

pub(super) async fn status(shop: &TestEnvironment, order: Id) -> Status {
    shop.load::<AnyOrder>(order).await.status()
}

/// The gate in front of a call.
pub(super) async fn gate_of(store: &Store, call: Id) -> Gate {
    let call: AnyExecution = store.load(call).await.unwrap();
    store.gate(call.context().behind().unwrap()).await.unwrap()
}

/// The message with this trigger.
pub(super) async fn message(shop: &TestEnvironment, order: Id, trigger: &str) -> Received {
    let inbox = shop.store().inbox(order).await.unwrap();
    let body = format!("{{\"trigger\":\"{trigger}\"}}");
    inbox.into_iter().flatten().find(|message| message.body == body).unwrap()
}

pub(super) async fn is_clean(shop: &TestEnvironment) {
    assert_eq!(shop.failures(), Vec::<String>::new());
    is_intact(shop).await;
}

pub(super) async fn is_intact(shop: &TestEnvironment) {
    machine_tests::stores::assert_intact(shop.store()).await;
}

#[tokio::test(start_paused = true)]
async fn the_outcome_moves_the_machine() {
    let mut coverage = Coverage::of::<AnyOrder>();
    for (reply, expected) in [
        (Reply::applied("receipt 7"), Status::Paid),
        (Reply::refused("no money"), Status::Unpaid),
        (Reply::unknown("the line went dead"), Status::Paying),
    ] {
        let bank = TestTool::<Charge>::new().replies(reply.clone());
        let shop = shop(&bank);
        let order = ordered(&shop, &place()).await;
        let found: AnyOrder = shop.load(order).await;
        assert_eq!(found.status(), expected, "{reply:?}");
        assert_eq!(bank.calls().len(), 1, "{reply:?}");
        match &found {
            AnyOrder::Paid(order) => assert_eq!(order.state().receipt, "receipt 7"),
            AnyOrder::Unpaid(order) => {
                assert_eq!(order.state().why, CallError::Refused("no money".to_owned()));
            }
            _ => {}
        }
        is_clean(&shop).await;
        shop.cover(&mut coverage).await;
    }
    let missing = coverage.missing_transitions();
    let is_missing = |trigger: &str| missing.iter().any(|edge| edge.contains(trigger));
    assert!(!is_missing("place") && is_missing("again"), "{missing:?}");
}

/// The entry says which execution it is by, and the execution which machine and entry made it.
#[tokio::test(start_paused = true)]
async fn the_machine_is_the_author() {
    let bank = TestTool::<Charge>::new().replies(Reply::applied("receipt 7"));
    let shop = shop(&bank);
    let order = ordered(&shop, &place()).await;
    let call = shop.store().children(order).await.unwrap().remove(0);
    let history = shop.store().history(order).await.unwrap();
    let paid = history.entries.last().unwrap();
    assert_eq!(
        (paid.actor.as_deref(), paid.by.as_deref()),
        (Some("call"), Some(&*call.id.to_string()))
    );
    let history = shop.store().history(call.id).await.unwrap();
    let author = (history.entries[0].actor.as_deref(), history.entries[0].by.as_deref());
    assert_eq!(author, (Some("machine"), Some("order")));
    let execution: AnyExecution = shop.load(call.id).await;
    let origin = execution.context().invoked().unwrap();
    assert_eq!((origin.id, origin.entry, origin.position), (order, 1, 0));
    assert_eq!((&*origin.machine, &*origin.invocation), ("order", "charge"));
    assert_eq!(execution.context().session_id(), Some(&*order.to_string()));
}

/// What another order has done is an outcome, and fails no commit.
#[tokio::test(start_paused = true)]
async fn of_two_equal_orders_the_second_is_already_done() {
    let bank = TestTool::<Charge>::new().replies(Reply::applied("receipt 7"));
    let shop = shop(&bank);
    let (first, second) = (ordered(&shop, &place()).await, ordered(&shop, &place()).await);
    assert_eq!(status(&shop, first).await, Status::Paid);
    let AnyOrder::Unpaid(second) = shop.load(second).await else { panic!("it is unpaid") };
    let by = shop.store().children(first).await.unwrap()[0].id;
    assert_eq!(second.state().why, CallError::AlreadyDone { by });
    assert_eq!(bank.calls().len(), 1);
    is_clean(&shop).await;
}

#[tokio::test(start_paused = true)]
async fn a_forged_outcome_is_refused() {
    let bank = TestTool::<Charge>::new().replies(Reply::unknown("the line went dead"));
    let shop = shop(&bank);
    let order = ordered(&shop, &place()).await;
    let body = r#"{"trigger":"paid","receipt":"mine"}"#;
    let forged = Message::from_json(body, &shop.person("ann")).unwrap();
    shop.store().send(order, &forged).await.unwrap();
    shop.run_until_idle().await;
    let inbox = shop.store().inbox(order).await.unwrap();
    let found = inbox.into_iter().flatten().find(|message| message.body == body).unwrap();
    let why = "an actor of kind `human` may never `paid`";
    assert_eq!(found.error.as_deref(), Some(why));
    let found: AnyOrder = shop.load(order).await;
    let refused = found.apply(Event::Paid { receipt: "mine".into() }, &shop.person("ann"));
    let reason = refused.unwrap_err().reason.to_string();
    assert_eq!(reason, "`human` may not `paid` from PAYING; these may: call");
}
