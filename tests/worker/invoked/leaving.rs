//! Moves out of a state, at each moment of its call.

use std::time::Duration;

use machine::{
    actor::Human,
    contract::{AnyExecution, receipt},
    effects::EffectError,
    store::{CommitError, Delivery, Store},
    testing::{Reply, TestTool},
    view::Internal,
};

use super::orders::{
    AnyOrder, Charge, Order, interrupted_by, is_clean, message, order::Event, order::Status,
    ordered, place, send, shop, status,
};

/// A call that has begun is not left: neither by a message, nor by a deadline, nor by a commit.
#[tokio::test(start_paused = true)]
async fn a_call_in_doubt_keeps_its_machine() {
    let bank = TestTool::<Charge>::new().replies(Reply::unknown("the line went dead"));
    let shop = shop(&bank);
    let order = ordered(&shop, &place()).await;
    let call = shop.store().children(order).await.unwrap()[0].id;

    send(&shop, order, &Event::Cancel).await;
    let kept = message(&shop, order, "cancel").await;
    assert_eq!(kept.status, Delivery::Queued);
    assert_eq!(kept.error, Some(format!("it waits for the call {call}")));

    let AnyOrder::Paying(paying) = shop.load(order).await else { panic!("it is paying") };
    let refused = shop.store().commit(&mut paying.cancel(&shop.person("ann"))).await.unwrap_err();
    assert!(
        matches!(refused, EffectError::Commit(CommitError::UnderWay { call: by, .. }) if by == call),
        "{refused}"
    );

    shop.advance(Duration::from_mins(2)).await;
    shop.run_until_idle().await;
    assert_eq!(status(&shop, order).await, Status::Paying);
    is_clean(&shop).await;

    // The table says that pausing detaches it.
    send(&shop, order, &Event::Pause).await;
    assert_eq!(status(&shop, order).await, Status::Paused);
    is_clean(&shop).await;
}

/// Its receipt is kept while the machine is paused, keeps the machine from being cancelled, and
/// belongs to the next entry.
#[tokio::test(start_paused = true)]
async fn a_detached_call_is_joined() {
    let (shop, order) = interrupted_by([Event::Pause]).await;
    assert_eq!(status(&shop, order).await, Status::Paused);
    send(&shop, order, &Event::Cancel).await;
    assert_eq!(status(&shop, order).await, Status::Paused);
    send(&shop, order, &Event::Resume).await;
    assert_eq!(status(&shop, order).await, Status::Paid);
    assert_eq!(shop.store().children(order).await.unwrap().len(), 1);
    is_clean(&shop).await;
}

/// The machine has ended, and said that it leaves its call behind: the call is named with it, has
/// the receipt, and its outcome is not lost.
#[tokio::test(start_paused = true)]
async fn a_receipt_that_no_state_takes_is_kept_and_shown() {
    for events in [vec![Event::Stop], vec![Event::Pause, Event::Stop]] {
        let (shop, order) = interrupted_by(events.clone()).await;
        assert_eq!(status(&shop, order).await, Status::Cancelled, "{events:?}");
        let shown = shop.observer().detail::<Internal>(order).await.unwrap();
        let [call] = &shown.children[..] else { panic!("{:?}", shown.children) };
        assert_eq!((&*call.status, call.has_ended), ("completed", true));
        let AnyExecution::Completed(paid) = shop.load(call.id).await else { panic!("{events:?}") };
        assert_eq!(receipt::<String>(&paid).unwrap(), "receipt 7");
        let inbox = shop.store().inbox(order).await.unwrap();
        let outcomes: Vec<_> = inbox.iter().flatten().filter(|it| it.actor == "call").collect();
        let [outcome] = &outcomes[..] else { panic!("{outcomes:?}") };
        assert_eq!(outcome.status, Delivery::SetAside, "{outcome:?}");
        is_clean(&shop).await;
    }
}

/// The table says that the call is made there, so no commit goes through the state.
#[tokio::test]
async fn no_commit_goes_through_a_state_that_calls() {
    let (store, ann) = (Store::memory(), Human::new("ann").unwrap());
    let Event::Place { charge } = place() else { unreachable!("it places") };
    let mut order = Order::new().place(charge, &ann).cancel(&ann);
    let refused = store.create(&mut order).await.unwrap_err();
    assert!(
        matches!(&refused, EffectError::Skipped { state, .. } if state == "paying"),
        "{refused}"
    );
}
