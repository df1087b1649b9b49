//! Every transition of an order, with the testing kit: no bank, no file, no clock.

#![allow(clippy::unwrap_used, reason = "a failing test should panic")]

use std::time::Duration;

use machine::testing::{Coverage, Reply, TestEnvironment, TestTool};

use super::{AnyOrder, CallError, Charge, Declined, Order, order};

const CHARGE: Charge = Charge { order: 17, cents: 500 };

/// An order that was placed at a bank that answers like this, run until nothing is ready.
async fn placed(reply: Reply<String, Declined>, coverage: &mut Coverage) -> AnyOrder {
    let bank = TestTool::<Charge>::new().replies(reply);
    let calls = bank.clone();
    let shop = TestEnvironment::new(move |worker| worker.machine::<AnyOrder>().tool(bank.clone()));
    let order = shop.create(Order::new().place(CHARGE, &shop.person("ann"))).await;
    shop.run_until_idle().await;
    assert_eq!(calls.calls(), [CHARGE], "it is charged once");
    assert_eq!(shop.failures(), Vec::<String>::new());
    shop.cover(coverage).await;
    shop.load(order).await
}

/// An order whose payment the bank does not have: its customer places it again, and it is charged
/// then.
async fn placed_again(coverage: &mut Coverage) -> AnyOrder {
    let bank = TestTool::<Charge>::new().finds(Reply::refused(Declined::NotFound));
    let bank =
        bank.replies(Reply::unknown("the line went dead")).replies(Reply::applied("receipt 8"));
    let calls = bank.clone();
    let shop = TestEnvironment::new(move |worker| worker.machine::<AnyOrder>().tool(bank.clone()));
    let ann = shop.person("ann");
    let order = shop.create(Order::new().place(CHARGE, &ann)).await;
    for _ in 0..3 {
        shop.run_until_idle().await;
        // The bank may be asked only later.
        shop.advance(Duration::from_mins(1)).await;
    }
    let AnyOrder::Cart(cart) = shop.load(order).await else { panic!("it is not in the cart") };
    assert_eq!(calls.calls(), [CHARGE], "it is not charged again without its customer");
    shop.store().commit(&mut cart.place(CHARGE, &ann)).await.unwrap();
    shop.run_until_idle().await;
    assert_eq!(shop.failures(), Vec::<String>::new());
    shop.cover(coverage).await;
    shop.load(order).await
}

#[tokio::test(start_paused = true)]
async fn an_order_agrees_with_the_bank() {
    let mut coverage = Coverage::of::<AnyOrder>();

    let paid = placed(Reply::applied("receipt 7"), &mut coverage).await;
    let AnyOrder::Paid(paid) = paid else { panic!("{paid:?}") };
    assert_eq!(paid.state().receipt, "receipt 7");

    let unpaid = placed(Reply::Refused(Declined::Closed), &mut coverage).await;
    let AnyOrder::Unpaid(unpaid) = unpaid else { panic!("{unpaid:?}") };
    assert_eq!(unpaid.state().why, CallError::Refused(Declined::Closed));

    // In doubt it waits: nobody knows whether the bank has the money.
    let waits = placed(Reply::unknown("the line went dead"), &mut coverage).await;
    assert_eq!(waits.status(), order::Status::Paying);

    let paid = placed_again(&mut coverage).await;
    let AnyOrder::Paid(paid) = paid else { panic!("{paid:?}") };
    assert_eq!(paid.state().receipt, "receipt 8");

    assert!(coverage.is_complete(), "{coverage}");
}
