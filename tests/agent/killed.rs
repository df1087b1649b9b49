//! Three agents with many turns in one file, and four worker processes, which are killed or frozen
//! one after the other: each turn that was acknowledged has one event and one deliverable, and a
//! bank, a server on loopback, has made its payment once.
//!
//! `MACHINE_AGENT_TURNS=300` sets the number of turns, and `TEST_SEED` repeats the choices of a
//! run; what the workers do at the same time is not repeated.

use std::{path::PathBuf, time::Instant};

use machine::{
    agent::{
        ActiveTurn, Agent, AgentError, AgentId, Agents, BoxId, CallTarget, Card, CardKind,
        Deliverable, Driver, TurnEnd, TurnId, Work,
    },
    contract::{Action, Attempt, ToolCall, ToolSpec},
    effects::EffectError,
    worker::{Failure, Task},
};
use machine_tests::{
    random::{Random, setting},
    stores::{assert_intact, close},
};
use serde_json::{Value, json};

use super::{
    queue::story,
    support::{agent, agent_call, id, makes, new_turn, turn},
};
use crate::{
    effects::{
        bank::{Bank, Dedup},
        tool::Teller,
    },
    process::{Process, orders},
    worker::{
        prelude::{
            Call, Delivery, Duration, Mutex, OpenOptions, Perform, STUCK, ToolAnswer, Worker,
            actors, inbox,
        },
        process::{Crew, Member, say_id},
    },
};

/// The agents, and their output boxes.
const AGENTS: [(&str, u64); 3] = [("planner", 1), ("helper", 2), ("cook", 3)];

/// The number of workers at any time.
const WORKERS: usize = 4;

/// The number of turns that are added at the start, and each time that a worker is disturbed: so
/// all turns are added only after several of them were.
const ADDED: u64 = 6;

fn turns() -> u64 {
    setting("MACHINE_AGENT_TURNS").unwrap_or(24)
}

/// The agents take turns.
fn agent_of(number: u64) -> (&'static str, u64) {
    AGENTS[usize::try_from(number).unwrap() % AGENTS.len()]
}

/// Their ids are not those of the boxes.
fn turn_of(number: u64) -> TurnId {
    turn(1000 + number)
}

/// Adds a turn. Returns `false` if it was not acknowledged, because a worker has the lock, which
/// may be frozen.
async fn add(agents: &Agents, number: u64) -> bool {
    let (name, output) = agent_of(number);
    match agents.enqueue(new_turn(name, 1000 + number, output)).await {
        Ok(()) => true,
        Err(AgentError::Commit(EffectError::Unavailable(error))) if error.is_busy() => false,
        other => panic!("{other:?}"),
    }
}

/// Pays once in each turn: a payment that was interrupted, and not made, is made in the next step.
struct Payer;

impl Agent for Payer {
    async fn run(&self, _: &AgentId, active: &ActiveTurn, task: &Task) -> Result<Work, Failure> {
        let cards = Agents::of(task.store()).cards(active.task.output_box, usize::MAX).await?;
        let is_result = |card: &Card| card.turn == active.id && card.kind == CardKind::ToolResult;
        match cards.iter().rfind(|(card, _)| is_result(card)) {
            Some((_, body)) if body.get("receipt").is_some() => {
                return Ok(Deliverable::Done(json!({})).into());
            }
            Some((_, body)) if body["error"].get("not_applied").is_none() => {
                return Ok(Deliverable::Failed(body.clone()).into());
            }
            _ => {}
        }
        let arguments = json!({ "to": active.id.to_string() }).to_string();
        let target = CallTarget::Tool(ToolCall::new(&spec(), &arguments)?);
        Ok(makes(vec![agent_call(0, target, None)]))
    }
}

/// The bank may read a request a moment after the process that sent it has ended.
fn spec() -> ToolSpec {
    let pay = ToolSpec::irreversible("bank", "pay").unwrap();
    pay.settling_time(Duration::from_millis(500))
}

/// Pays at the bank, slowly, so that its worker is killed before, in and after a payment.
struct Slow {
    teller: Teller,
    random: Mutex<Random>,
}

impl Slow {
    async fn pause(&self) {
        let time = self.random.lock().unwrap().number() % 60;
        tokio::time::sleep(Duration::from_millis(time)).await;
    }
}

impl Perform<Action> for Slow {
    async fn perform(&self, call: &Call<Action>) -> ToolAnswer<Action> {
        self.pause().await;
        let answer = Perform::<Action>::perform(&self.teller, call).await;
        self.pause().await;
        answer
    }

    async fn find(&self, attempt: &Attempt<Action>) -> ToolAnswer<Action> {
        Perform::<Action>::find(&self.teller, attempt).await
    }
}

/// Runs turns until SIGTERM.
#[tokio::test]
#[ignore = "the other test runs it as another process"]
async fn works() {
    let (file, teller, seed): (PathBuf, Teller, u64) = orders();
    let stop = say_id();
    let store = OpenOptions::new().busy_timeout(STUCK).sqlite(file).await.unwrap();
    let worker = Worker::new(&store, actors())
        .handler(Driver(Payer))
        .other_tools(Slow { teller, random: Mutex::new(Random::new(seed)) })
        .lease(Duration::from_secs(1))
        .sweep(Duration::from_millis(100))
        .backoff(Duration::from_millis(50), Duration::from_secs(1))
        // Each turn ends with its payment, however often its workers are killed.
        .attempts(1000);
    worker.run_until(stop).await.unwrap();
    close(store).await;
}

async fn deliverables(agents: &Agents, output: u64) -> Vec<(Card, Value)> {
    let mut cards = agents.cards(BoxId(id(output)), usize::MAX).await.unwrap();
    cards.retain(|(card, _)| card.kind == CardKind::Deliverable);
    cards
}

#[tokio::test]
async fn each_turn_ends_once_while_workers_are_killed_and_frozen() {
    let mut random = Random::of("each_turn_ends_once");
    let (folder, bank, turns) = (tempfile::tempdir().unwrap(), Bank::open(Dedup::Nothing), turns());
    let file = folder.path().join("agent.db");
    // This process must not wait for workers that it has to thaw.
    let options = OpenOptions::new().busy_timeout(Duration::from_millis(200));
    let store = options.sqlite(&file).await.unwrap();
    let agents = Agents::of(&store);
    for (name, _) in AGENTS {
        agents.create(&agent(name)).await.unwrap();
    }

    let (teller, mut seeds) = (Teller::pays(&bank), Random::new(random.number()));
    let start = move || {
        let orders = (&file, &teller, seeds.number());
        Member::of(Process::start("agent::killed::works", &orders))
    };
    let newest = store.position().await.unwrap();
    let mut crew = Crew::start(WORKERS, newest, random, start);
    let (mut added, mut known, mut news, mut disturbed) = (0, 0, Instant::now(), 0);
    while known < usize::try_from(turns).unwrap() {
        while added < turns.min(ADDED * (1 + disturbed)) && add(&agents, added).await {
            added += 1;
        }
        crew.disturb(store.position().await.unwrap());
        disturbed = u64::try_from(crew.kills + crew.freezes).unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        let mut ended = 0;
        for (_, output) in AGENTS {
            ended += deliverables(&agents, output).await.len();
        }
        assert!(news.elapsed() < STUCK, "{ended} of {added} turns have ended, and no more");
        if ended > known {
            (known, news) = (ended, Instant::now());
        }
    }
    let (kills, freezes) = (crew.kills, crew.freezes);
    crew.stop();

    let mut paid: Vec<String> = bank.paid().into_iter().map(|payment| payment.to).collect();
    paid.sort();
    let all: Vec<String> = (0..turns).map(|number| turn_of(number).to_string()).collect();
    assert_eq!(paid, all, "each payment is made once");
    for (name, output) in AGENTS {
        let (_, events) = story(&store, name).await;
        let ended: Vec<_> = events.iter().map(|it| (it.turn, it.end)).collect();
        let of_agent = (0..turns).filter(|number| agent_of(*number).0 == name);
        let done: Vec<_> = of_agent.map(|number| (turn_of(number), TurnEnd::Done)).collect();
        assert_eq!(ended, done, "{name}");
        let events: Vec<_> = events.iter().map(|it| (it.turn, it.deliverable)).collect();
        let deliverables = deliverables(&agents, output).await;
        let deliverables = deliverables.iter().map(|(card, _)| (card.turn, card.header.id));
        assert_eq!(deliverables.collect::<Vec<_>>(), events, "{name}");
        assert!(agents.queued(&agent(name), 1).await.unwrap().is_empty(), "{name}");
        assert_eq!(agents.head(&agent(name)).await.unwrap().active, None, "{name}");
        let inbox = inbox(&store, agent(name).head()).await;
        assert!(inbox.iter().all(|it| it.status == Delivery::Handled), "{name}: {inbox:?}");
    }
    let set_aside = store.set_aside().await.unwrap();
    assert!(set_aside.machines.is_empty(), "{set_aside:?}");
    assert_intact(&store).await;
    eprintln!("{turns} turns, {kills} kills, {freezes} freezes");
    assert!(kills > 0 && freezes > 0, "{kills} kills, {freezes} freezes");
}
