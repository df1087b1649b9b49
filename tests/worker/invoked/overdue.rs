//! The limit of the waiting for a single call.

use std::time::Duration;

use machine::{
    actor::{GraphRunner, Human},
    contract::{CallError, Tool},
    machine,
    stored::Context,
    testing::{Reply, TestEnvironment, TestTool},
    worker::{Handled, Next, Task},
};
use serde::{Deserialize, Serialize};

use super::orders::is_clean;
use crate::worker::prelude::{ann, create, settle, timed, worker};
use order::Event;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
#[tool(bank.charge, irreversible)]
struct Charge {
    cents: u32,
    asks: bool,
}

impl Charge {
    fn asks(&self) -> bool {
        self.asks
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Patience(Duration);

impl Context for Patience {
    type Summary = ();
}

#[machine(durable, context = Patience)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(place(charge) => Placed, by = Human)]
    #[on(pay(charge, late = 0) => Paying, by = Human)]
    Cart,
    /// The program makes the next step, so that the worker goes on with the machine.
    #[on(begin(late = 0) => Paying, by = GraphRunner)]
    Placed { charge: Charge },
    #[invoke(charge, approve = Charge::asks, unattended, within = context.0, done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why: CallError) => match why {
        CallError::Overdue { .. } => Self(late = late + 1),
        other => Unpaid(why = other),
    })]
    Paying { charge: Charge, late: u32 },
    #[terminal]
    Paid { receipt: String, late: u32 },
    #[terminal]
    Unpaid { why: CallError },
}

struct Shop;

impl order::Handle for Shop {
    async fn placed(&self, order: Order<order::Placed>, task: &mut Task) -> Handled<AnyOrder> {
        Ok(Next::to(order.begin(&task.actors().graph_runner)))
    }
}

const LIMIT: Duration = Duration::from_secs(10);

/// How often the limit passed, in a state that a message or the program has entered.
async fn late(event: Event, within: Duration, reply: Reply<String, String>) -> (AnyOrder, u32) {
    let bank = TestTool::<Charge>::new().replies(reply);
    let service = bank.clone();
    let shop = TestEnvironment::new(move |worker| {
        worker.handler(order::Driver(Shop)).tool(service.clone())
    });
    let id = shop.create(AnyOrder::from(Order::new(Patience(within)))).await;
    shop.send(id, &event, &shop.person("ann")).await;
    for _ in 0..3 {
        shop.advance(2 * LIMIT).await;
        shop.run_until_idle().await;
    }
    is_clean(&shop).await;
    let found: AnyOrder = shop.load(id).await;
    let late = match &found {
        AnyOrder::Paying(order) => order.state().late,
        AnyOrder::Paid(order) => order.state().late,
        other => panic!("{other:?}"),
    };
    (found, late)
}

/// The machine is told once, whoever has moved it, also while a person is asked; a receipt comes
/// later.
#[tokio::test(start_paused = true)]
async fn a_call_is_overdue_once() {
    let entries: [fn(Charge) -> Event; 2] =
        [|charge| Event::Pay { charge }, |charge| Event::Place { charge }];
    for of in entries {
        let charge = |asks| Charge { cents: 500, asks };
        let slow = || Reply::applied("receipt 7").after(2 * LIMIT);
        let (found, count) = late(of(charge(true)), LIMIT, slow()).await;
        assert!(matches!(found, AnyOrder::Paying(_)) && count == 1, "asked: {count} {found:?}");
        let (found, count) = late(of(charge(false)), LIMIT, slow()).await;
        assert!(matches!(found, AnyOrder::Paid(_)) && count == 1, "slow: {count} {found:?}");
        let (found, count) = late(of(charge(false)), Duration::ZERO, slow()).await;
        assert!(matches!(found, AnyOrder::Paid(_)) && count == 1, "at once: {count} {found:?}");
        let unknown = Reply::unknown("the line went dead");
        let (found, count) = late(of(charge(false)), LIMIT, unknown).await;
        assert!(matches!(found, AnyOrder::Paying(_)) && count == 1, "in doubt: {count} {found:?}");
        let (found, count) = late(of(charge(false)), LIMIT, Reply::applied("receipt 7")).await;
        assert!(matches!(found, AnyOrder::Paid(_)) && count == 0, "in time: {count} {found:?}");
    }
}

/// The clock of the system is two hours behind.
#[test]
fn the_limit_is_by_the_clock_of_the_store() {
    timed(async |store, hand| {
        hand.set(machine::clock::now() + 2 * 3_600_000);
        let bank = TestTool::<Charge>::new().replies(Reply::unknown("the line went dead"));
        let charge = Charge { cents: 500, asks: false };
        let id = create(&store, Order::new(Patience(LIMIT)).pay(charge, ann())).await;
        let late = async || {
            settle(worker(&store).handler(order::Driver(Shop)).tool(bank.clone())).await;
            let found: AnyOrder = store.load(id).await.unwrap();
            let AnyOrder::Paying(order) = found else { panic!("{found:?}") };
            order.state().late
        };
        assert_eq!(late().await, 0);
        hand.pass(LIMIT);
        assert_eq!(late().await, 1);
    });
}
