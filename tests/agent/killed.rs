//! Three agents with many turns in one file, and two worker processes, of which one is killed again
//! and again: each turn has one event and one deliverable, and its payment is made at most once.

use std::{
    collections::BTreeSet,
    fs, future,
    io::Write,
    path::{Path, PathBuf},
    time::Instant,
};

use machine::{
    agent::{
        ActiveTurn, AfterExecution, Agent, AgentCall, AgentId, Agents, BoxId, CallTarget, Card,
        CardKind, Deliverable, Driver, ModelAnswer, TurnId, Work,
    },
    contract::{Registry, ToolCall, ToolSpec},
    worker::{Failure, Task},
};
use machine_tests::{random::Random, stores::assert_intact};
use serde_json::{Value, json};

use super::{
    queue::story,
    support::{agent, id, new_turn, turn},
};
use crate::{
    process::{Process, orders, say},
    worker::prelude::{Applied, Arc, Duration, OpenOptions, STUCK, Worker, actors},
};

/// The agents, and their output boxes.
const AGENTS: [(&str, u64); 3] = [("planner", 1), ("helper", 2), ("cook", 3)];

/// The turns of each agent.
const TURNS: u64 = 40;

fn turns(output: u64) -> impl Iterator<Item = u64> {
    (0..TURNS).map(move |number| 1000 * output + number)
}

/// Pays once in each turn. A call in doubt is overdue after a second.
struct Payer;

impl Agent for Payer {
    async fn run(&self, _: &AgentId, active: &ActiveTurn, _: &Task) -> Result<Work, Failure> {
        if active.step > 1 {
            return Ok(Deliverable::Done(json!({})).into());
        }
        let arguments = json!({ "turn": active.id.to_string() }).to_string();
        let call = AgentCall {
            tool: "pay".to_owned(),
            call_id: "call".to_owned(),
            target: CallTarget::Tool(ToolCall::new(&spec(), &arguments)?),
            within: Some(Duration::from_secs(1)),
            after: AfterExecution::Suspend,
        };
        Ok(Work::Call(ModelAnswer { calls: vec![call], ..ModelAnswer::default() }))
    }
}

fn spec() -> ToolSpec {
    ToolSpec::irreversible("bank", "pay").unwrap()
}

/// Writes a line for each payment.
fn tools(folder: &Path) -> Registry {
    let (mut tools, payments) = (Registry::new(), payments(folder));
    let added = tools.add(spec(), move |call| {
        let turn = call.arguments.arguments().and_then(|arguments| arguments["turn"].as_str());
        let line = format!("{}\n", turn.unwrap());
        let mut file = fs::OpenOptions::new().create(true).append(true).open(&payments).unwrap();
        file.write_all(line.as_bytes()).unwrap();
        Box::pin(async { Ok(Applied::new("paid")) })
    });
    added.unwrap();
    tools
}

fn payments(folder: &Path) -> PathBuf {
    folder.join("payments")
}

fn database(folder: &Path) -> PathBuf {
    folder.join("agent.db")
}

/// Says that it works, and runs turns until it is killed.
#[tokio::test]
#[ignore = "the other test runs it as another process"]
async fn works() {
    let folder: PathBuf = orders();
    let store = OpenOptions::new().sqlite(database(&folder)).await.unwrap();
    say(&"at work");
    let worker = Worker::new(&store, actors())
        .handler(Driver(Payer))
        .other_tools(Arc::new(tools(&folder)))
        .lease(Duration::from_secs(1))
        .sweep(Duration::from_millis(100))
        .backoff(Duration::from_millis(50), Duration::from_secs(1));
    worker.run_until(future::pending()).await.unwrap();
}

fn start(folder: &Path) -> Process {
    let mut process = Process::start("agent::killed::works", &folder);
    process.hear::<String>();
    process
}

async fn cards(agents: &Agents, output: u64, kind: CardKind) -> Vec<(Card, Value)> {
    let mut cards = agents.cards(BoxId(id(output)), usize::MAX).await.unwrap();
    cards.retain(|(card, _)| card.kind == kind);
    cards
}

#[tokio::test]
async fn each_turn_ends_once_while_workers_are_killed() {
    let mut random = Random::of("each_turn_ends_once");
    let folder = tempfile::tempdir().unwrap();
    let store = OpenOptions::new().sqlite(database(folder.path())).await.unwrap();
    let agents = Agents::of(&store);
    for (name, _) in AGENTS {
        agents.create(&agent(name)).await.unwrap();
    }
    let (steady, mut killed) = (start(folder.path()), start(folder.path()));
    for (name, output) in AGENTS {
        for number in turns(output) {
            agents.enqueue(new_turn(name, number, output)).await.unwrap();
        }
    }
    let all = AGENTS.into_iter().flat_map(|(_, output)| turns(output)).count();
    let (mut known, mut news, mut kills) = (0, Instant::now(), 0);
    while known < all {
        tokio::time::sleep(Duration::from_millis(50 + random.number() % 100)).await;
        let mut ended = 0;
        for (_, output) in AGENTS {
            ended += cards(&agents, output, CardKind::Deliverable).await.len();
        }
        assert!(news.elapsed() < STUCK, "{ended} of {all} turns have ended, and no more");
        // On a slow computer, too, the turns get on.
        if ended > known {
            (known, news, kills) = (ended, Instant::now(), kills + 1);
            killed.kill();
            killed = start(folder.path());
        }
    }
    killed.kill();
    steady.kill();

    let lines = fs::read_to_string(payments(folder.path())).unwrap();
    let paid: BTreeSet<&str> = lines.lines().collect();
    assert_eq!(paid.len(), lines.lines().count(), "a payment is made once: {lines}");
    let mut receipts = 0;
    for (name, output) in AGENTS {
        let (_, events) = story(&store, name).await;
        let events: Vec<_> = events.iter().map(|it| (it.turn, it.deliverable)).collect();
        let ended: Vec<TurnId> = events.iter().map(|(turn, _)| *turn).collect();
        assert_eq!(ended, turns(output).map(turn).collect::<Vec<_>>(), "{name}");
        let deliverables = cards(&agents, output, CardKind::Deliverable).await;
        let deliverables = deliverables.iter().map(|(card, _)| (card.turn, card.header.id));
        assert_eq!(deliverables.collect::<Vec<_>>(), events, "{name}");
        let mut results = cards(&agents, output, CardKind::ToolResult).await;
        results.retain(|(_, body)| *body == json!({ "receipt": "paid" }));
        let is_paid = |card: &Card| paid.contains(&*card.turn.to_string());
        assert!(results.iter().all(|(card, _)| is_paid(card)), "{name}: {lines}");
        receipts += results.len();
        assert!(agents.queued(&agent(name), 1).await.unwrap().is_empty(), "{name}");
        assert_eq!(agents.head(&agent(name)).await.unwrap().active, None, "{name}");
    }
    assert_intact(&store).await;
    eprintln!("{all} turns, {receipts} of them paid for sure, {kills} kills");
    assert!(kills > 0 && receipts > 0, "{kills} kills, {receipts} receipts");
}
