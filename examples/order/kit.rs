//! Every transition of an order, with the testing kit: no bank, no file, no clock.

#![allow(clippy::unwrap_used, reason = "a failing test should panic")]

use std::time::Duration;

use machine::testing::{Coverage, Reply, TestEnvironment, TestTool};

use super::{AnyOrder, CallError, Charge, Declined, Order, order};

const CHARGE: Charge = Charge { order: 17, cents: 500 };

/// An order that was placed at a bank, after some minutes. Its customer places it again if it is
/// back in the cart.
async fn placed(bank: TestTool<Charge>, minutes: u32, coverage: &mut Coverage) -> AnyOrder {
    let calls = bank.clone();
    let shop = TestEnvironment::new(move |worker| worker.machine::<AnyOrder>().tool(bank.clone()));
    let ann = shop.person("ann");
    let order = shop.create(Order::new().place(CHARGE, &ann)).await;
    shop.run_until_idle().await;
    for _ in 0..minutes {
        shop.advance(Duration::from_mins(1)).await;
        shop.run_until_idle().await;
    }
    assert_eq!(calls.calls(), [CHARGE], "it is charged once, and not again without its customer");
    if let AnyOrder::Cart(cart) = shop.load(order).await {
        shop.store().commit(&mut cart.place(CHARGE, &ann)).await.unwrap();
        shop.run_until_idle().await;
    }
    assert_eq!(shop.failures(), Vec::<String>::new());
    shop.cover(coverage).await;
    shop.load(order).await
}

#[tokio::test(start_paused = true)]
async fn an_order_agrees_with_the_bank() {
    let (bank, mut coverage) = (TestTool::<Charge>::new, Coverage::of::<AnyOrder>());

    let paid = placed(bank().replies(Reply::applied("receipt 7")), 0, &mut coverage).await;
    let AnyOrder::Paid(paid) = paid else { panic!("{paid:?}") };
    assert_eq!(paid.state().receipt, "receipt 7");

    let unpaid = placed(bank().replies(Reply::Refused(Declined::Closed)), 0, &mut coverage).await;
    let AnyOrder::Unpaid(unpaid) = unpaid else { panic!("{unpaid:?}") };
    assert_eq!(unpaid.state().why, CallError::Refused(Declined::Closed));

    // In doubt it waits: nobody knows whether the bank has the money.
    let lost = || bank().replies(Reply::unknown("the line went dead"));
    let waits = placed(lost(), 0, &mut coverage).await;
    assert_eq!(waits.status(), order::Status::Paying);

    // The bank may be asked only later, and does not have it.
    let again = lost().finds(Reply::refused(Declined::NotFound));
    let paid = placed(again.replies(Reply::applied("receipt 8")), 3, &mut coverage).await;
    let AnyOrder::Paid(paid) = paid else { panic!("{paid:?}") };
    assert_eq!(paid.state().receipt, "receipt 8");

    assert!(coverage.is_complete(), "{coverage}");
}
