//! A state makes a call in a newer program, and machines are in it already.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use machine::{
    Id,
    actor::{Actors, Human},
    contract::{AnyExecution, CallError, Tool},
    machine,
    store::LoadError,
    testing::{Reply, TestEnvironment, TestTool},
    worker::{Worker, WorkerError},
};
use machine_tests::invoked::Charge;
use serde::{Deserialize, Serialize};

use super::orders::is_clean;

/// Its state makes no call.
mod older {
    use super::*;

    #[machine(durable)]
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub(super) enum Order {
        #[initial]
        #[on(place(cents) => Paying, by = Human)]
        Cart,
        #[stable]
        #[on(remind => Self, by = Human)]
        #[on(cancel => Cancelled, by = Human)]
        Paying { cents: u32 },
        #[terminal]
        Cancelled,
    }
}

/// A program whose state makes this call.
macro_rules! program {
    ($program:ident, $cents:ident, $($invoke:tt)*) => {
        mod $program {
            use super::*;

            #[machine(durable)]
            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
            pub(super) enum Order {
                #[initial]
                #[on(place($cents) => Paying, by = Human)]
                Cart,
                #[invoke($($invoke)*)]
                #[on(paid(receipt) => Paid)]
                #[on(refused(why) => Unpaid)]
                #[on(cancel => Cancelled, by = Human)]
                Paying { $cents: u32 },
                #[terminal]
                Paid { receipt: String },
                #[terminal]
                Unpaid { why: CallError },
                #[terminal]
                Cancelled,
            }
        }
    };
}

// It says nothing of machines that have no call.
program!(strict, cents, payment: Charge = Charge { cents }, done = paid, failed = refused);
// Also for machines that have none.
program!(adopting, cents, payment: Charge = charge(cents), adopt, done = paid, failed = refused);
// It calls another tool.
program!(changed, cents, payment: Debit = Debit { cents }, done = paid, failed = refused);

/// It panics for nothing.
fn charge(cents: u32) -> Charge {
    assert!(cents > 0, "nothing to charge");
    Charge { cents }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
#[tool(bank.debit, irreversible)]
struct Debit {
    cents: u32,
}

const OLDER: usize = 0;
const ADOPTING: usize = 1;

/// A shop whose workers run the program of this number.
fn shop(bank: &TestTool<Charge>, program: &Arc<AtomicUsize>) -> TestEnvironment {
    let (bank, program) = (bank.clone(), Arc::clone(program));
    TestEnvironment::new(move |worker| {
        let worker = worker.tool(bank.clone());
        match program.load(Ordering::SeqCst) {
            OLDER => worker.machine::<older::AnyOrder>(),
            _ => worker.machine::<adopting::AnyOrder>(),
        }
    })
}

/// An order that is PAYING since the older program.
async fn placed(shop: &TestEnvironment, cents: u32) -> Id {
    let order = shop.create(older::AnyOrder::from(older::Order::new())).await;
    let ann = shop.person("ann");
    shop.send(order, &older::order::Event::Place { cents }, &ann).await;
    shop.send(order, &older::order::Event::Remind, &ann).await;
    assert!(shop.store().children(order).await.unwrap().is_empty());
    order
}

fn program() -> Arc<AtomicUsize> {
    Arc::new(AtomicUsize::new(OLDER))
}

async fn worker_error(shop: &TestEnvironment, of: impl FnOnce(Worker) -> Worker) -> String {
    let worker = of(Worker::new(shop.store(), Actors::issue("newer").unwrap()));
    match worker.run_until_idle().await.unwrap_err() {
        error @ WorkerError::Incompatible { .. } => error.to_string(),
        other => panic!("{other:?}"),
    }
}

/// The worker of the newer program makes the call, once, though nothing else happens to the
/// machine.
#[tokio::test(start_paused = true)]
async fn a_machine_that_waits_is_given_its_call() {
    let bank = TestTool::<Charge>::new().replies(Reply::unknown("the line went dead"));
    let program = program();
    let shop = shop(&bank, &program);
    let order = placed(&shop, 500).await;
    program.store(ADOPTING, Ordering::SeqCst);
    for _ in 0..3 {
        shop.run_until_idle().await;
        let calls = shop.store().children(order).await.unwrap();
        assert_eq!((calls.len(), calls[0].position, bank.calls().len()), (1, Some(0), 1));
    }
    let call = shop.store().children(order).await.unwrap()[0].id;
    let execution: AnyExecution = shop.load(call).await;
    let origin = execution.context().invoked().unwrap();
    assert_eq!((origin.id, origin.entry), (order, 1), "it belongs to the entry into the state");
    is_clean(&shop).await;

    let doubt = shop.store().in_doubt(call).await.unwrap();
    drop(shop.store().confirm_applied(doubt, "receipt 7", &shop.person("ann")).await.unwrap());
    shop.run_until_idle().await;
    let adopting::AnyOrder::Paid(paid) = shop.load(order).await else { panic!("it is paid") };
    assert_eq!(paid.state().receipt, "receipt 7");
    is_clean(&shop).await;
}

/// An outcome takes the place of the call.
#[tokio::test(start_paused = true)]
async fn a_key_that_is_applied_is_an_outcome() {
    let bank = TestTool::<Charge>::new().replies(Reply::applied("receipt 7"));
    let program = program();
    let shop = shop(&bank, &program);
    let orders = [placed(&shop, 500).await, placed(&shop, 500).await];
    program.store(ADOPTING, Ordering::SeqCst);
    shop.run_until_idle().await;
    // The call whose key was held looks again.
    shop.advance(Duration::from_mins(1)).await;
    shop.run_until_idle().await;
    let mut ends = Vec::new();
    for order in orders {
        ends.push(shop.load::<adopting::AnyOrder>(order).await.status().to_string());
    }
    ends.sort();
    assert_eq!((ends, bank.calls().len()), (vec!["paid".to_owned(), "unpaid".to_owned()], 1));
    is_clean(&shop).await;
}

/// The machine stays as it was, and says why it has no call.
#[tokio::test(start_paused = true)]
async fn an_expression_that_panics_sets_the_machine_aside() {
    for has_child in [false, true] {
        let bank = TestTool::<Charge>::new();
        let program = program();
        let shop = shop(&bank, &program);
        let order = placed(&shop, 0).await;
        if has_child {
            end_child(&shop, order).await;
        }
        program.store(ADOPTING, Ordering::SeqCst);
        for _ in 0..20 {
            shop.run_until_idle().await;
            shop.advance(Duration::from_hours(1)).await;
        }
        let failures = shop.failures().join("\n");
        assert!(failures.contains("their expression panicked: nothing to charge"), "{failures}");
        assert!(failures.contains("set aside"), "{failures}");
        let found: adopting::AnyOrder = shop.load(order).await;
        assert_eq!(found.status(), adopting::order::Status::Paying);
        let children = shop.store().children(order).await.unwrap();
        assert_eq!(children.len(), usize::from(has_child));

        shop.send(order, &adopting::order::Event::Cancel, &shop.person("ann")).await;
        shop.run_until_idle().await;
        let found: adopting::AnyOrder = shop.load(order).await;
        assert_eq!(found.status(), adopting::order::Status::Cancelled, "a person can end it");
    }
}

/// Gives the order a child that ends while no worker runs.
async fn end_child(shop: &TestEnvironment, order: Id) {
    let (store, ann) = (shop.store(), shop.person("ann"));
    let mut cart = older::Order::new();
    store.batch().create_child(order, &mut cart).write().await.unwrap();
    shop.run_until_idle().await;
    let mut paying = cart.place(1, &ann);
    store.commit(&mut paying).await.unwrap();
    store.commit(&mut paying.cancel(&ann)).await.unwrap();
}

/// Without `adopt`, the machine would wait for ever: no part of the newer program reads it, and the
/// worker says why.
#[tokio::test(start_paused = true)]
async fn a_state_that_has_machines_gets_no_call_by_accident() {
    let bank = TestTool::<Charge>::new();
    let shop = shop(&bank, &program());
    let order = placed(&shop, 500).await;
    let text = "state `paying` calls payment: Charge, and machines that are in it have no call to wait for: write `adopt`";
    let refused = shop.store().load::<strict::AnyOrder>(order).await.unwrap_err();
    assert!(matches!(refused, LoadError::Unreadable(_)) && refused.to_string().contains(text));
    let error = worker_error(&shop, Worker::machine::<strict::AnyOrder>).await;
    assert!(error.contains(text) && error.contains(&order.to_string()), "{error}");

    // Other states are not concerned.
    let cart = shop.create(older::AnyOrder::from(older::Order::new())).await;
    let cart: strict::AnyOrder = shop.load(cart).await;
    let strict::AnyOrder::Cart(cart) = cart else { panic!("it is new") };
    let mut paying = cart.place(700, &Human::new("ann").unwrap());
    shop.store().commit(&mut paying).await.unwrap();
    assert_eq!(shop.store().children(paying.id()).await.unwrap().len(), 1);
}

/// Its outcome would be that of another tool.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_under_way_keeps_its_tool() {
    let bank = TestTool::<Charge>::new().replies(Reply::unknown("the line went dead"));
    let program = program();
    program.store(ADOPTING, Ordering::SeqCst);
    let shop = shop(&bank, &program);
    let order = shop.create(adopting::AnyOrder::from(adopting::Order::new())).await;
    let place = adopting::order::Event::Place { cents: 500 };
    shop.send(order, &place, &shop.person("ann")).await;
    let error = worker_error(&shop, Worker::machine::<changed::AnyOrder>).await;
    let text = "state `paying` calls payment: Debit (bank.debit, irreversible) instead of payment: Charge (bank.charge, irreversible), whose outcome machines that are in it wait for";
    assert!(error.contains(text) && error.contains(&order.to_string()), "{error}");
    is_clean(&shop).await;
}
