//! `turns` and `stop`: the turns of agents in a file.

use std::time::Duration;

use machine::{
    Id,
    actor::{Actors, Human},
    agent::{
        ActiveTurn, AfterExecution, Agent, AgentCall, AgentId, Agents, BoxId, CallTarget,
        Deliverable, Driver, MemberId, ModelAnswer, NewTurn, Task, Terms, TurnId, Work,
    },
    worker::{self, Failure, Worker},
};
use serde_json::{Value, json};

use crate::surfaces::{Place, unknown};

pub(crate) fn id(number: u64) -> Id {
    format!("00000000-0000-7000-8000-{number:012x}").parse().unwrap()
}

pub(crate) fn agent(name: &str) -> AgentId {
    AgentId(name.to_owned())
}

/// A task that writes to this box.
pub(crate) fn task(output: u64) -> Task {
    Task {
        context_box: BoxId(id(0)),
        context_cards: 0,
        output_box: BoxId(id(output)),
        trace: id(0),
        terms: Terms::default(),
    }
}

/// Asks someone outside; the planner also asks the helper.
struct Asker;

impl Agent for Asker {
    async fn run(
        &self,
        by: &AgentId,
        active: &ActiveTurn,
        _: &worker::Task,
    ) -> Result<Work, Failure> {
        if active.must_deliver() {
            return Ok(Deliverable::Done(json!({})).into());
        }
        let helper = CallTarget::Agent { agent: agent("helper"), task: task(20) };
        let delegates = (by.0 == "planner").then_some(helper);
        let targets = [CallTarget::Outside].into_iter().chain(delegates);
        let calls = targets.enumerate().map(|(index, target)| AgentCall {
            tool: "ask".to_owned(),
            call_id: format!("call_{index}"),
            target,
            within: Some(Duration::from_hours(2)),
            after: AfterExecution::Suspend,
        });
        Ok(Work::Call(ModelAnswer { calls: calls.collect(), tokens: 7, ..ModelAnswer::default() }))
    }
}

async fn work(place: &Place) {
    let worker = Worker::new(&place.store, Actors::issue("office").unwrap());
    worker.handler(Driver(Asker)).run_until_idle().await.unwrap();
}

/// A planner that waits for the helper and for someone outside, with two more turns in its queue.
async fn waiting(place: &Place) -> [String; 3] {
    let agents = Agents::of(&place.store);
    for name in ["planner", "helper"] {
        agents.create(&agent(name)).await.unwrap();
    }
    let turns = [1, 2, 3].map(|number| TurnId(id(number)));
    for id in turns {
        let new = NewTurn { id, agent: agent("planner"), task: task(10) };
        agents.enqueue(new).await.unwrap();
    }
    work(place).await;
    turns.map(|turn| turn.to_string())
}

/// The same, after its first turn was stopped and delivered.
pub(crate) async fn delivered(place: &Place) {
    waiting(place).await;
    let ann = Human::new("ann").unwrap();
    Agents::of(&place.store).stop(TurnId(id(1)), &ann).await.unwrap();
    work(place).await;
}

#[tokio::test]
async fn turns_are_shown_with_what_they_wait_for() {
    let place = Place::new().await;
    place.run(&["turns"]).shows(&["No agents."]);
    let [first, second, third] = waiting(&place).await;
    let child = MemberId { turn: TurnId(id(1)), step: 1, index: 1 }.delegated().to_string();

    let shown = place.json(&["turns"]);
    let (planner, helper) = (&shown["agents"][0], &shown["agents"][1]);
    assert_eq!((&planner["agent"], &helper["agent"]), (&json!("planner"), &json!("helper")));
    assert_eq!((&planner["epoch"], &helper["active"]["turn"]), (&json!(1), &json!(child)));
    let active = &planner["active"];
    for (name, value) in [
        ("turn", json!(first)),
        ("phase", json!("suspended")),
        ("step", json!(1)),
        ("stop", Value::Null),
        ("calls", json!(2)),
        ("tokens", json!(7)),
        ("output_box", json!(id(10))),
    ] {
        assert_eq!(active[name], value, "{name}");
    }
    let of = |call: &Value| ["call_id", "source", "id"].map(|name| call[name].clone());
    let calls: Vec<_> = active["waiting"].as_array().unwrap().iter().map(of).collect();
    let delegated = [json!("call_1"), json!("turn"), json!(child)];
    assert_eq!(calls, [[json!("call_0"), json!("outside"), Value::Null], delegated]);
    for call in active["waiting"].as_array().unwrap() {
        assert_eq!(call["since"], active["entered_at"]);
    }
    let queued = |shown: &Value| {
        let turns = shown["agents"][0]["queued"].as_array().unwrap().iter();
        turns.map(|turn| turn["turn"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(queued(&shown), [second.clone(), third.clone()]);
    assert_eq!(planner["more_queued"], false);
    let part = place.json(&["turns", "--queued", "1", "--limit", "1"]);
    assert_eq!(queued(&part), std::slice::from_ref(&second));
    assert_eq!(part["agents"][0]["more_queued"], true);
    let after = format!("--after={}", part["next"].as_str().unwrap());
    assert_eq!(place.json(&["turns", &after])["agents"], json!([helper]));

    let text = place.run(&["turns", "--queued", "1"]);
    text.shows(&[&first, &second, "suspended", "queued", "--queued", "call_1", "in 1 h"]);
    text.shows(&[&format!("turn {child}"), " ago"]);
    assert!(!text.out.contains(&third), "{text:?}");
}

#[tokio::test]
async fn a_person_stops_turns() {
    let place = Place::new().await;
    let [first, second, third] = waiting(&place).await;
    let since = |shown: &Value| shown["agents"][0]["active"]["waiting"][0]["since"].clone();
    let before = since(&place.json(&["turns"]));
    for turn in [&second, &first] {
        place.run(&["stop", turn, "--as", "ann"]).shows(&[turn, "(a stop was requested)"]);
    }
    place.run(&["stop", &first, "--as", "bob"]).shows(&["was already stopped by ann"]);
    let shown = place.json(&["turns"]);
    let planner = &shown["agents"][0];
    let why = json!("a stop was requested");
    assert_eq!((&planner["active"]["stop"], &planner["queued"][0]["stop"]), (&why, &why));
    assert_eq!(planner["active"]["phase"], "running");
    assert_eq!(since(&shown), before, "its calls are as old as before");
    work(&place).await;
    let planner = place.json(&["turns"])["agents"][0].clone();
    assert_eq!(planner["active"]["turn"], json!(third));
    let ends = planner["delivered"].as_array().unwrap().iter();
    let ends: Vec<_> = ends.map(|it| ["turn", "end"].map(|name| it[name].clone())).collect();
    let why = json!("stopped: a stop was requested");
    assert_eq!(ends, [[json!(second), why.clone()], [json!(first), why]]);
    let ended = place.json(&["stop", &first, "--as", "ann"]);
    assert_eq!(ended["end"], json!({ "stopped": "requested" }));

    place.run(&["stop", &unknown().to_string(), "--as", "ann"]).failed(4, "there is no turn");
    place.run(&["stop", "first", "--as", "ann"]).failed(2, "not a valid id");
    place.run(&["stop", &third]).failed(2, "--as");
    let log = place.store.operations(10, None).await.unwrap().items;
    let log: Vec<_> = log.into_iter().rev().map(Result::unwrap).collect();
    let lines: Vec<_> = log.iter().map(|it| (&*it.by, &*it.via, &*it.operation)).collect();
    let by = ["ann", "ann", "bob", "ann"];
    assert_eq!(lines, by.map(|by| (by, "cli", "stop")), "the unknown turn has no line");
    assert_eq!(log[3].outcome.as_deref(), Some("already ended: stopped: a stop was requested"));
    assert_eq!(log[0].detail, format!("turn {second}"));
}

#[tokio::test]
async fn delivered_turns_are_pruned() {
    let place = Place::new().await;
    delivered(&place).await;
    let prune = |more: &[&str]| {
        let prune = ["prune", "--turns", "--ended-for", "0s", "--as", "ann"];
        place.run(&[&prune[..], more].concat())
    };
    prune(&[]).failed(2, "delete the cards of turns that were delivered at least 0 s ago?");
    prune(&["--machine", "execution", "--yes"]).failed(2, "cannot be used with");
    prune(&["--yes"]).shows(&["pruned 0 turns with 0 cards"]);
    let ann = Human::new("ann").unwrap();
    for number in [3, 2] {
        Agents::of(&place.store).stop(TurnId(id(number)), &ann).await.unwrap();
    }
    work(&place).await;
    prune(&["--yes", "--keep", "2"]).shows(&["pruned 1 turn with "]);
    let document = place.json(&["prune", "--turns", "--ended-for", "0s", "--as", "ann", "--yes"]);
    assert_eq!((&document["turns"], &document["problems"]), (&json!(2), &json!([])));
    assert!(place.run(&["operations"]).done().contains("prune turns"));
    place.run(&["verify"]).done();
    place.run(&["prune", "--ended-for", "0s", "--keep", "1", "--as", "ann"]).failed(2, "--turns");
}
