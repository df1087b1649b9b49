//! Turns whose workers end again and again: an agent that kills its process ends no other turn, and
//! a turn always ends.

use std::{path::PathBuf, sync::Arc, time::Duration};

use machine::{
    agent::{ActiveTurn, Agent, AgentId, Agents, Deliverable, Driver, StopReason, TurnEnd, Work},
    worker::{Failure, Task},
};
use serde_json::json;
use tokio::sync::Notify;

use super::{
    heads::{Lost, runs},
    queue::{Clerk, lose, queued, story},
    support::{agent, new_turn},
};
use crate::{
    process::{Process, orders},
    worker::prelude::{Hand, Store, new_file, settle, timed, worker},
};

const DEADLY: &str = "agent-5";

/// Ends its process if it is the deadly one.
struct Crowd;

impl Agent for Crowd {
    async fn run(&self, agent: &AgentId, _: &ActiveTurn, _: &Task) -> Result<Work, Failure> {
        let is_deadly = agent.0 == DEADLY;
        // The others are in the middle of their turns.
        tokio::time::sleep(Duration::from_millis(if is_deadly { 20 } else { 100 })).await;
        if is_deadly {
            std::process::abort();
        }
        Ok(Deliverable::Done(json!({})).into())
    }
}

#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn delivers_or_dies() {
    let file: PathBuf = orders();
    let store = Store::sqlite(file).await.unwrap();
    worker(&store).handler(Driver(Crowd)).run_until_idle().await.unwrap();
}

#[tokio::test]
async fn an_agent_that_kills_its_process_ends_no_other_turn() {
    let (_folder, file) = new_file();
    let store = Store::sqlite(&file).await.unwrap();
    let agents = Agents::of(&store);
    let names: Vec<_> = (0..12).map(|number| format!("agent-{number}")).collect();
    for (number, name) in (1..).zip(&names) {
        agents.create(&agent(name)).await.unwrap();
        agents.enqueue(new_turn(name, number, number)).await.unwrap();
    }
    let mut killed = 0;
    while !Process::start("agent::suspects::delivers_or_dies", &file).ended_well() {
        killed += 1;
        assert!(killed < 20, "it goes on killing");
    }
    assert_eq!(killed, 5);
    for name in &names {
        let is_deadly = name == DEADLY;
        let end = if is_deadly { TurnEnd::Stopped(StopReason::Attempts) } else { TurnEnd::Done };
        assert_eq!(story(&store, name).await.1[0].end, end, "{name}");
    }
}

/// The workers are lost before they take the turn over, more often than it has attempts. The
/// takeover at last is a move, and does not begin the attempts anew.
#[test]
fn a_turn_ends_however_many_workers_are_lost() {
    timed(async |store: Store, hand: Hand| {
        queued(&store, 1).await;
        for _ in 0..5 {
            let told = Arc::new(Notify::new());
            let lost = Lost(Driver(Clerk::default()), runs, Arc::clone(&told));
            lose(worker(&store).attempts(1).handler(lost), &told, &hand).await;
        }
        settle(worker(&store).attempts(1).handler(Driver(Clerk::default()))).await;
        let (moves, events) = story(&store, "planner").await;
        assert_eq!(moves, ["dispatch", "claim", "reclaim", "stop", "deliver"]);
        assert_eq!(events[0].end, TurnEnd::Stopped(StopReason::Attempts));
    });
}
