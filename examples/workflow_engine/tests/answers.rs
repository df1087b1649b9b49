//! An answer is for one intervention: one that comes twice, or late, never answers the next one.

use machine::store::Delivery;
use serde_json::json;

use crate::{
    condition::Condition,
    scenarios::{PAY, READ, TO_ALL, planned},
    submit::Submitted,
    world::World,
};

const MOVED: &str = "the machine has moved on since the sender looked";

/// A world with a task in its first intervention, for a payment; the second one is for a mail to
/// all.
async fn asked() -> (World, Submitted) {
    let world = planned(&[READ, PAY, TO_ALL], "500");
    let task = world.begin("pay and tell").await;
    asks(&world, task, "bank.pay").await;
    (world, task)
}

/// The engine waits in an intervention for this tool; returns the number of its transitions.
async fn asks(world: &World, task: Submitted, tool: &str) -> u64 {
    let asks = world.asks(task).await;
    assert_eq!(asks.state().reason, Condition::SensitiveAction);
    assert!(asks.state().proposed_action.contains(tool), "{:?}", asks.state());
    asks.journal().summary().transitions
}

/// The number of answers of a person.
async fn answers(world: &World, task: Submitted) -> usize {
    let moves = world.moves(task).await;
    moves.iter().filter(|(from, _, _)| from == "manual_intervention").count()
}

/// The first one counts, and the other one is set aside in the next intervention at the latest.
#[tokio::test(start_paused = true)]
async fn two_people_answer_at_once() {
    let resume = || ("user_resume", json!({}));
    let terminate = || ("user_terminate", json!({ "why": "no" }));
    for [first, second] in [[resume(), terminate()], [terminate(), resume()]] {
        let (world, task) = asked().await;
        let seen = Some(asks(&world, task, "bank.pay").await);
        let is_paid = first.0 == "user_resume";
        let ann = world.send(task, "ann", seen, first.0, first.1).await;
        let ben = world.send(task, "ben", seen, second.0, second.1).await;
        world.work().await;
        assert_eq!(world.delivery(task, &ann).await, (Delivery::Handled, None));
        assert_ne!(world.delivery(task, &ben).await.0, Delivery::Handled);
        assert_eq!(answers(&world, task).await, 1);
        assert_eq!(world.file("bank.txt").lines().count(), usize::from(is_paid));
        if is_paid {
            asks(&world, task, "mail.send").await;
        } else {
            assert_eq!(world.record(task).await.status().to_string(), "terminated");
            let next = world.submit("the next one").await;
            assert_eq!(next.engine, task.engine);
            world.work().await;
            asks(&world, next, "bank.pay").await;
        }
        let set_aside = (Delivery::SetAside, Some(MOVED.to_owned()));
        assert_eq!(world.delivery(task, &ben).await, set_aside);
        assert_eq!(answers(&world, task).await, 1);
        assert_eq!(world.file("mails.txt"), "");
    }
}

#[tokio::test(start_paused = true)]
async fn a_double_click_answers_once() {
    let (world, task) = asked().await;
    world.say(task, "user_resume", json!({})).await;
    world.says(task, "user_resume", json!({})).await;
    assert_eq!(answers(&world, task).await, 1);
    asks(&world, task, "mail.send").await;
    assert_eq!(world.file("mails.txt"), "");
}

/// Whatever it says, and whichever state the engine is in when it arrives.
#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_late_is_set_aside() {
    let (world, task) = asked().await;
    let first = asks(&world, task, "bank.pay").await;
    world.says(task, "user_resume", json!({})).await;
    let second = asks(&world, task, "mail.send").await;
    assert!(second > first);
    for (trigger, payload) in [
        ("user_resume", json!({})),
        ("user_modify", json!({ "instruction": "all of them" })),
        ("user_terminate", json!({ "why": "too late" })),
    ] {
        let late = world.send(task, "ben", Some(first), trigger, payload).await;
        world.work().await;
        let set_aside = (Delivery::SetAside, Some(MOVED.to_owned()));
        assert_eq!(world.delivery(task, &late).await, set_aside, "{trigger}");
        assert_eq!(asks(&world, task, "mail.send").await, second, "{trigger}");
    }
    assert_eq!(world.file("mails.txt"), "");
    world.says(task, "user_resume", json!({})).await;
    assert_eq!(world.record(task).await.status().to_string(), "completed");

    // Nor does it answer for the next task of the same engine.
    let next = world.submit("pay and tell again").await;
    assert_eq!(next.engine, task.engine);
    world.work().await;
    let third = asks(&world, next, "bank.pay").await;
    for seen in [first, second] {
        let late = world.send(next, "ben", Some(seen), "user_resume", json!({})).await;
        world.work().await;
        assert_eq!(world.delivery(next, &late).await.0, Delivery::SetAside);
    }
    assert_eq!(asks(&world, next, "bank.pay").await, third);
    assert_eq!(world.file("bank.txt").lines().count(), 1);
}
