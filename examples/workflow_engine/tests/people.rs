//! Decisions of people, and the outcome of a task.

use std::time::Duration;

use machine::actor::Human;
use serde_json::json;

use crate::{
    agent::Reply,
    condition::Condition,
    record::AnyTaskRecord,
    scenarios::{COURIER, Line, MAIL, READ, TO_ALL, plan, planned},
    submit::Submitted,
    testing::STUCK,
    workflow::AnyWorkflow,
    world::World,
};

/// A person modifies: the agent plans again, and knows what was said and what was done.
#[tokio::test(start_paused = true)]
async fn a_modified_task_is_planned_again_with_the_instructions() {
    let world = World::new(|brief| {
        Ok(Reply::Can(match brief.instructions.as_slice() {
            [] => plan(&[TO_ALL]),
            [only] if only == "only bob" => {
                assert_eq!(brief.goal, "invite");
                assert!(brief.history.is_empty());
                plan(&[MAIL])
            }
            other => panic!("{other:?}"),
        }))
    });
    let task = world.begin("invite").await;
    world.says(task, "user_modify", json!({ "instruction": "only bob" })).await;
    assert_eq!(world.record(task).await.status().to_string(), "completed");
    let mails = world.file("mails.txt");
    assert!(mails.contains("bob") && !mails.contains("everyone"), "{mails}");
}

/// A new instruction discards the old plan at once: a person who pauses before there is a new one,
/// and resumes, does not let the old call pass.
#[tokio::test(start_paused = true)]
async fn a_modified_task_has_no_plan_until_it_is_planned_again() {
    let world = World::new(|brief| match brief.instructions.as_slice() {
        [] => Ok(Reply::Can(plan(&[TO_ALL]))),
        _ => Err("the model is down".into()),
    });
    let task = world.begin("invite").await;
    world.says(task, "user_modify", json!({ "instruction": "only bob" })).await;
    assert!(matches!(world.engine(task).await, AnyWorkflow::Planning(_)));
    world.says(task, "request_intervention", json!({ "note": "let me see" })).await;
    let asks = world.asks(task).await;
    assert_eq!(asks.state().proposed_action, "make a plan");
    world.says(task, "user_resume", json!({})).await;
    assert_eq!(world.file("mails.txt"), "");
}

/// A person lets the call pass that they saw: with other arguments it is asked again.
#[tokio::test(start_paused = true)]
async fn a_call_with_other_arguments_is_asked_again() {
    const TELL: Line = ("mail.send", &[("to", "everyone"), ("text", "{{files.read}}")], None);
    let world = planned(&[READ, TELL], "the secret");
    let task = world.submit("tell").await;
    for seen in ["{{files.read}}", "the secret"] {
        world.work().await;
        let asks = world.asks(task).await;
        assert!(asks.state().proposed_action.contains(seen), "{:?}", asks.state());
        assert_eq!(world.file("mails.txt"), "");
        world.say(task, "user_resume", json!({})).await;
    }
    world.work().await;
    assert!(world.file("mails.txt").contains("the secret"));
}

/// An agent that plans a payment again does not pay again, and a person finds out.
#[tokio::test(start_paused = true)]
async fn an_irreversible_call_is_made_once_however_often_it_is_planned() {
    let world = World::new(|_| Ok(Reply::Can(plan(&[MAIL, MAIL]))));
    let task = world.begin("write twice").await;
    for answer in ["user_resume", "user_resume"] {
        let paused = world.asks(task).await;
        assert_eq!(paused.state().reason, Condition::HighConfidenceFailure);
        assert!(paused.state().explanation.contains("took effect before"));
        assert_eq!(world.file("mails.txt").lines().count(), 1);
        world.says(task, answer, json!({})).await;
    }
    world.says(task, "user_terminate", json!({ "why": "once is enough" })).await;
    assert_eq!(world.file("mails.txt").lines().count(), 1);
    assert_eq!(world.record(task).await.status().to_string(), "terminated");
}

/// A person changes a task while a call is in doubt: the agent is asked when its outcome is known.
#[tokio::test(start_paused = true)]
async fn a_call_under_way_is_waited_for_before_the_next_plan() {
    let world = World::new(|brief| {
        Ok(Reply::Can(plan(match brief.history.as_slice() {
            [] => &[COURIER],
            [line] => {
                assert!(line.starts_with("[SUCCESS") && line.contains("it was there"), "{line}");
                &[MAIL]
            }
            other => panic!("{other:?}"),
        })))
    });
    let task = world.begin("send it").await;
    world.says(task, "request_intervention", json!({ "note": "wait" })).await;
    world.says(task, "user_modify", json!({ "instruction": "and write" })).await;
    assert!(matches!(world.engine(task).await, AnyWorkflow::Planning(_)));

    confirm(&world, task).await;
    assert_eq!(world.record(task).await.status().to_string(), "completed");
}

/// Ann says that the only call of an engine, which is in doubt, took effect.
async fn confirm(world: &World, task: Submitted) {
    let calls = world.store.children(task.engine).await.unwrap();
    let doubt = world.store.in_doubt(calls[0].id).await.unwrap();
    let ann = Human::new("ann").unwrap();
    let _ = world.store.confirm_applied(doubt, "it was there", &ann).await.unwrap();
    world.work().await;
}

/// Its outcome waits for the person who resumes, and it is not made again.
#[tokio::test(start_paused = true)]
async fn a_call_that_ends_in_a_pause_is_taken_over() {
    let world = planned(&[COURIER], "");
    let task = world.begin("send it").await;
    world.says(task, "request_intervention", json!({ "note": "wait" })).await;
    confirm(&world, task).await;
    assert!(matches!(world.engine(task).await, AnyWorkflow::ManualIntervention(_)));
    world.says(task, "user_resume", json!({})).await;
    let AnyTaskRecord::Completed(record) = world.record(task).await else { panic!() };
    assert_eq!(record.state().history, ["courier.send: it was there"]);
}

/// A pause does not wait for an agent that thinks.
#[tokio::test(start_paused = true)]
async fn a_pause_does_not_wait_for_the_agent() {
    let world = World::new(|_| panic!("it thinks"));
    let task = world.submit("think for ever").await;
    let ann = async {
        while !matches!(world.engine(task).await, AnyWorkflow::Planning(_)) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        world.say(task, "request_intervention", json!({ "note": "enough" })).await;
    };
    let both = async { tokio::join!(world.work(), ann) };
    tokio::time::timeout(STUCK, both).await.unwrap();
    assert!(matches!(world.engine(task).await, AnyWorkflow::ManualIntervention(_)));
}

/// The engine is idle again and takes the next task; the record of the first one stays as it was.
#[tokio::test(start_paused = true)]
async fn the_record_stays_when_the_engine_is_reset() {
    let world = World::new(|_| Ok(Reply::Can(plan(&[MAIL]))));
    let first = world.begin("first").await;
    let before = serde_json::to_value(world.store.json(first.record).await.unwrap()).unwrap();
    let second = world.submit("impossible").await;
    assert_eq!(second.engine, first.engine, "the idle engine is used again");
    assert_ne!(second.record, first.record);
    world.work().await;
    assert_eq!(
        serde_json::to_value(world.store.json(first.record).await.unwrap()).unwrap(),
        before
    );
    let AnyTaskRecord::Completed(record) = world.record(first).await else { panic!() };
    assert_eq!(record.context().goal, "first");
    assert_eq!(record.state().history, ["mail.send → bob: done"]);
    assert_eq!(world.record(second).await.status().to_string(), "failed");
    assert!(matches!(world.engine(second).await, AnyWorkflow::Idle(_)));
}

/// One waits for a person, others continue; each has its own engine.
#[tokio::test(start_paused = true)]
async fn several_tasks_at_once() {
    let world = World::new(|brief| {
        Ok(Reply::Can(plan(if brief.goal == "waits" { &[TO_ALL] } else { &[MAIL] })))
    });
    let mut tasks = Vec::new();
    for number in 0..10 {
        let goal = if number % 2 == 0 { "waits" } else { "goes on" };
        tasks.push((goal, world.submit(goal).await));
    }
    let mut engines: Vec<_> = tasks.iter().map(|(_, task)| task.engine).collect();
    engines.sort();
    engines.dedup();
    assert_eq!(engines.len(), 10, "no task waits for another one");
    world.work().await;
    for (goal, task) in &tasks {
        let expected = if *goal == "waits" { "open" } else { "completed" };
        assert_eq!(world.record(*task).await.status().to_string(), expected, "{goal}");
    }
    assert_eq!(world.file("mails.txt").lines().count(), 5);
    for (_, task) in tasks.iter().filter(|(goal, _)| *goal == "waits") {
        world.say(*task, "user_terminate", json!({ "why": "enough" })).await;
    }
    world.work().await;
    for (goal, task) in &tasks {
        let expected = if *goal == "waits" { "terminated" } else { "completed" };
        assert_eq!(world.record(*task).await.status().to_string(), expected, "{goal}");
        assert!(matches!(world.engine(*task).await, AnyWorkflow::Idle(_)));
    }
    assert_eq!(world.file("mails.txt").lines().count(), 5);
}

/// A task that is ended while a call is in doubt: the record says so, and the call stays for a
/// person.
#[tokio::test(start_paused = true)]
async fn the_record_names_a_call_that_is_still_under_way() {
    let world = World::new(|_| Ok(Reply::Can(plan(&[COURIER]))));
    let task = world.begin("send it").await;
    world.says(task, "request_intervention", json!({ "note": "stop" })).await;
    world.says(task, "user_terminate", json!({ "why": "stop" })).await;
    let AnyTaskRecord::Terminated(record) = world.record(task).await else { panic!() };
    assert_eq!(record.state().history, ["courier.send: under way"]);
    let calls = world.store.children(task.engine).await.unwrap();
    assert!(world.store.in_doubt(calls[0].id).await.is_ok());
}

/// Two who submit at the same time do not get the same engine.
#[tokio::test(start_paused = true)]
async fn an_idle_engine_gets_one_task() {
    let world = World::new(|_| Ok(Reply::Can(plan(&[MAIL]))));
    world.begin("first").await;
    let (one, other) = tokio::join!(world.submit("one"), world.submit("other"));
    assert_ne!(one.engine, other.engine);
    world.work().await;
    for task in [one, other] {
        assert_eq!(world.record(task).await.status().to_string(), "completed");
    }
}

/// A person who pauses between two steps and resumes gets the second one: the result of the first
/// is not its result.
#[tokio::test(start_paused = true)]
async fn a_pause_between_two_steps_skips_none() {
    let world = World::new(|brief| match brief.done.len() {
        0 => Ok(Reply::Can(plan(&[READ, MAIL]))),
        _ => Err("the model is down".into()),
    });
    std::fs::write(world.path("note.txt"), "500").unwrap();
    let task = world.begin("look and tell").await;
    assert!(matches!(world.engine(task).await, AnyWorkflow::Planning(_)));
    world.says(task, "request_intervention", json!({ "note": "let me see" })).await;
    let asks = world.asks(task).await;
    assert!(asks.state().proposed_action.contains("mail.send"), "{:?}", asks.state());
    world.says(task, "user_resume", json!({})).await;
    assert_eq!(world.file("mails.txt").lines().count(), 1);
    assert_eq!(world.record(task).await.status().to_string(), "completed");
}
