//! Workers in other processes that are killed, or frozen and thawed later (TN-9). Each turn that
//! was acknowledged ends once.

use std::{
    collections::BTreeSet,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
};

use machine::{
    agent::{
        ActiveTurn, Agent, AgentId, Agents, AnyAgentHead, BoxId, CallTarget, CardKind,
        Conversation, Deliverable, Driver, MemberId, TurnId, TurnStatus, Work,
    },
    clock::Millis,
    contract::{Registry, ToolCall, ToolSpec},
    journal::Fact,
    worker::{Failure, Handled, Handler, Task},
};
use machine_tests::{
    hand::START,
    stores::{assert_intact, close},
};
use serde_json::json;

use super::{
    prompt::check_moment,
    queue::{staff, story},
    support::{agent, agent_call, id, makes, new_turn, turn},
};
use crate::{
    process::{Act, Process, orders, say},
    worker::prelude::{
        Applied, Arc, Count, Deserialize, Duration, Hand, Next, OpenOptions, STUCK, Serialize,
        Store, worker,
    },
};

/// The turns of the planner, which write to one box.
const TURNS: [u64; 2] = [1, 2];

/// Longer than a test.
const LEASE: Duration = Duration::from_hours(1);

/// When the leases have ended.
const LATER: Millis = START + 2 * 3_600_000;

/// The turn that makes calls in its first step: two of a tool, and one of another agent.
const CALLS: u64 = 3;

struct Scribe;

impl Agent for Scribe {
    async fn run(&self, _: &AgentId, active: &ActiveTurn, _: &Task) -> Result<Work, Failure> {
        fail::fail_point!("turn-step");
        if active.id != turn(CALLS) || active.step > 1 {
            return Ok(Deliverable::Done(json!({})).into());
        }
        let read = CallTarget::Tool(ToolCall::new(&spec(), "{}")?);
        let new = new_turn("helper", 4, 4);
        let asked = CallTarget::Agent { agent: new.agent, task: new.task };
        let within = Some(LEASE * 10_000);
        let calls = (0..).zip([read.clone(), asked, read]);
        Ok(makes(calls.map(|(place, target)| agent_call(place, target, within)).collect()))
    }
}

fn spec() -> ToolSpec {
    ToolSpec::idempotent("files", "read").unwrap()
}

/// Passes a fail point between the decision about a transition and its write. Counts those for
/// which the worker believed in its lease, and so writes them.
struct Watched {
    driver: Driver<Scribe>,
    tried: Count,
}

impl Handler for Watched {
    type Machine = AnyAgentHead;

    async fn handle(&self, head: AnyAgentHead, task: &mut Task) -> Handled<AnyAgentHead> {
        let waits = matches!(head, AnyAgentHead::Suspended(_));
        let next = self.driver.handle(head, task).await?;
        if let Next::Commit(_) = next {
            fail::fail_point!("turn-decided");
            if waits {
                fail::fail_point!("turn-report");
            }
            if task.is_valid() {
                self.tried.add();
            }
        }
        Ok(next)
    }
}

/// Runs turns until none is left. Returns the number of transitions that were tried.
async fn run(store: &Store) -> usize {
    let tried = Count::default();
    let handler = Watched { driver: Driver(Scribe), tried: tried.clone() };
    let mut tools = Registry::new();
    tools.add(spec(), |_| Box::pin(async { Ok(Applied::new("text")) })).unwrap();
    let worker = worker(store).lease(LEASE).handler(handler).other_tools(Arc::new(tools));
    worker.run_until_idle().await.unwrap();
    tried.get()
}

async fn open(file: &Path, now: Millis) -> Store {
    OpenOptions::new().clock(Hand::at(now)).sqlite(file).await.unwrap()
}

/// The turns write to one box, apart from the one that makes calls.
async fn add(agents: &Agents, number: u64) {
    let output = if number == CALLS { CALLS } else { 1 };
    agents.enqueue(new_turn("planner", number, output)).await.unwrap();
}

#[derive(Debug, Serialize, Deserialize)]
struct Orders {
    file: PathBuf,
    /// Its clock stands still.
    now: Millis,
    /// The turns that it adds.
    adds: Vec<u64>,
    /// The fail point, and how often it is passed before.
    at: Option<(Act, String, usize)>,
}

/// Adds turns and says the number of each, runs all that are there, and says how many transitions
/// it has tried.
#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn works() {
    let Orders { file, now, adds, at } = orders();
    let store = open(&file, now).await;
    if let Some((act, point, before)) = at {
        act.at(&point, before);
    }
    for number in adds {
        add(&Agents::of(&store), number).await;
        say(&number);
    }
    say(&run(&store).await);
    close(store).await;
}

fn start(file: &Path, now: Millis, adds: &[u64], at: Option<(Act, &str, usize)>) -> Process {
    let at = at.map(|(act, point, before)| (act, point.to_owned(), before));
    let orders = Orders { file: file.to_owned(), now, adds: adds.to_vec(), at };
    Process::start("agent::processes::works", &orders)
}

/// The turns that have ended, each once: with one event, and one deliverable in its box. No other
/// turn is there.
async fn ended(store: &Store) -> Vec<TurnId> {
    let agents = Agents::of(store);
    let (_, events) = story(store, "planner").await;
    let ended: Vec<_> = events.iter().map(|it| (it.turn, it.deliverable)).collect();
    let cards = agents.cards(BoxId(id(1)), 100).await.unwrap();
    let cards: Vec<_> = cards.iter().map(|(card, _)| (card.turn, card.header.id)).collect();
    assert_eq!(cards, ended);
    let mut records = Vec::new();
    for turn in TURNS.map(turn) {
        match agents.turn(turn).await.unwrap().map(|record| record.status) {
            Some(TurnStatus::Delivered { deliverable, .. }) => records.push((turn, deliverable)),
            Some(status) => panic!("{turn} is left: {status:?}"),
            None => {}
        }
    }
    assert_eq!(records, ended);
    assert!(agents.queued(&agent("planner"), 100).await.unwrap().is_empty());
    assert_eq!(agents.head(&agent("planner")).await.unwrap().active, None);
    assert_intact(store).await;
    ended.into_iter().map(|(turn, _)| turn).collect()
}

/// Checks what the planner asks after each entry of its journal, with the cards that were written
/// by then. Returns what it has asked last.
async fn check_prefixes(store: &Store) -> Option<Conversation> {
    let agents = Agents::of(store);
    // A result names the deliverable of the helper.
    let mut cards = agents.cards(BoxId(id(4)), 100).await.unwrap();
    let mut written = cards.len();
    for output in [1, CALLS] {
        cards.extend(agents.cards(BoxId(id(output)), 100).await.unwrap());
    }
    let mut asked = None;
    for entry in store.history(agent("planner").head()).await.unwrap().entries {
        let Fact::Moved { trigger, payload, .. } = entry.fact else { continue };
        written += match &*trigger {
            // The answer and its calls.
            "call" => 4,
            "report" | "deliver" => 1,
            _ => 0,
        };
        let Some(turn) = payload.get("turn").or_else(|| payload.get("next")) else { continue };
        let active: ActiveTurn = serde_json::from_value(turn.clone()).unwrap();
        let members = |kind: CardKind| -> BTreeSet<MemberId> {
            let found = cards[..written].iter().filter(|(card, _)| card.kind == kind);
            let ids =
                found.map(|(it, _)| MemberId { turn: it.turn, step: it.step, index: it.index });
            ids.collect()
        };
        let (calls, results) = (members(CardKind::ToolCall), members(CardKind::ToolResult));
        let open: Vec<MemberId> = calls.difference(&results).copied().collect();
        asked = check_moment(&active, &cards[..written], &open, asked.as_ref()).or(asked);
    }
    assert_eq!(written, cards.len(), "each card is of an entry");
    asked
}

/// A is frozen when it has decided about a transition, or before. B takes over, and delivers. A
/// thaws, and believes in its lease: the store refuses what it writes.
#[tokio::test]
async fn a_thawed_worker_writes_nothing() {
    // The claim; the step; the delivery, with the dispatch and the claim of the next turn; the
    // delivery of that one. And the number of writes that A tries, of which the last is refused,
    // that of the moves that are written by then, and the epochs of the turns.
    for (point, before, (tried, written), epochs) in [
        ("turn-decided", 0, (1, 1), [1, 2]),
        ("turn-step", 0, (2, 2), [2, 3]),
        ("turn-decided", 1, (2, 2), [2, 3]),
        ("turn-decided", 2, (3, 5), [1, 3]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("agent.db");
        let store = open(&file, START).await;
        let agents = staff(&store).await;
        for number in TURNS {
            add(&agents, number).await;
        }
        let mut a = start(&file, START, &[], Some((Act::Freeze, point, before)));
        a.freeze_between_commits(&file);
        // Enqueueing has dispatched the first turn.
        assert_eq!(story(&store, "planner").await.0.len(), written, "{point} {before}");

        let mut b = start(&file, LATER, &[], None);
        b.hear::<usize>();
        b.join();
        let (moves, events) = story(&store, "planner").await;
        // A may still be at work on the turn if it has claimed it.
        let mut expected = ["dispatch", "claim", "deliver"].repeat(TURNS.len());
        if expected[written - 1] == "claim" {
            expected.insert(written, "reclaim");
        }
        assert_eq!(moves, expected, "{point} {before}");
        assert_eq!(events.iter().map(|it| it.epoch).collect::<Vec<_>>(), epochs);

        a.thaw();
        assert_eq!(a.hear::<usize>(), tried, "{point} {before}");
        a.join();
        assert_eq!(story(&store, "planner").await, (moves, events));
        assert_eq!(ended(&store).await, TURNS.map(turn));
    }
}

/// A is frozen when it has decided about the first, the second or the last result of a step.
#[tokio::test]
async fn a_thawed_worker_reports_no_result() {
    for before in 0..3 {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("agent.db");
        let store = open(&file, START).await;
        let agents = staff(&store).await;
        let mut a = start(&file, START, &[CALLS], Some((Act::Freeze, "turn-report", before)));
        assert_eq!(a.hear::<u64>(), CALLS);
        a.freeze_between_commits(&file);

        let mut b = start(&file, LATER, &[], None);
        b.hear::<usize>();
        b.join();
        let seen = async || {
            let cards = agents.cards(BoxId(id(CALLS)), 100).await.unwrap();
            (story(&store, "planner").await, story(&store, "helper").await, cards)
        };
        let found = seen().await;
        let ((moves, _), (_, asked), cards) = &found;
        let mut expected =
            vec!["dispatch", "claim", "call", "report", "report", "report", "deliver"];
        expected.insert(3 + before, "reclaim");
        assert_eq!(*moves, expected);
        assert_eq!(asked.len(), 1);
        let results = cards.iter().filter(|(card, _)| card.kind == CardKind::ToolResult);
        let epochs: Vec<_> = results.map(|(card, _)| card.epoch).collect();
        let taken_over = [1; 3].into_iter().take(before).chain([2; 3]).take(3);
        assert_eq!(epochs, taken_over.collect::<Vec<_>>());

        a.thaw();
        a.hear::<usize>();
        a.join();
        assert_eq!(seen().await, found, "{before}");
        assert_intact(&store).await;
    }
}

/// Kills a process that adds turns and runs them, and checks what a turn asks then; a fresh worker
/// runs what it has left. Returns the store, the turns that are known to be added, and whether the
/// process has come there.
async fn killed(
    point: &str,
    before: usize,
    turns: &[u64],
) -> (tempfile::TempDir, Store, Vec<TurnId>, bool) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent.db");
    let store = open(&file, START).await;
    staff(&store).await;
    store.close().await.unwrap();

    let mut process = start(&file, START, turns, Some((Act::Kill, point, before)));
    let added = turns.iter().map_while(|_| process.hear_until_end().map(turn));
    let added: Vec<TurnId> = added.collect();
    let status = process.ended();
    assert!(status.success() || status.signal().is_some(), "{point} {before}: {status}");

    let store = open(&file, LATER).await;
    check_prefixes(&store).await;
    tokio::time::timeout(STUCK, run(&store)).await.expect("the worker rests");
    (folder, store, added, !status.success())
}

/// Between the decision about a transition and its write, in the step, in a transaction that has
/// written a card, and after each commit: those of the queue, of the lease, and of the transitions.
#[tokio::test]
async fn t13_kirocrew_5281_a_killed_worker_loses_no_turn() {
    for point in ["turn-decided", "turn-step", "store-line", "store-committed"] {
        for before in 0.. {
            let (_folder, store, added, is_killed) = killed(point, before, &TURNS).await;
            let ended = ended(&store).await;
            let is_whole = ended.starts_with(&added);
            assert!(is_whole, "{point} {before}: {added:?} were added, {ended:?} ended");
            // Each turn has a task, and each one before the last an answer.
            let asked = check_prefixes(&store).await.map_or(0, |asked| asked.openai().len() + 1);
            assert_eq!(asked, 2 * ended.len(), "{point} {before}");
            if !is_killed {
                assert!(before >= TURNS.len(), "{point}: {before}");
                break;
            }
        }
    }
}

/// The answer and its calls are written together, and each call has one result: whether it is
/// killed before it makes them, between two results, or before it delivers.
#[tokio::test]
async fn t01_kimi_code_771_a_killed_worker_loses_no_result() {
    for point in ["turn-decided", "store-committed"] {
        for before in 0.. {
            let (_folder, store, added, is_killed) = killed(point, before, &[CALLS]).await;
            let cards = Agents::of(&store).cards(BoxId(id(CALLS)), 100).await.unwrap();
            if cards.is_empty() {
                assert!(is_killed && added.is_empty(), "{point} {before}");
                continue;
            }
            let place = format!("{point} {before}: {cards:?}");
            let number =
                |kind: CardKind| cards.iter().filter(|(card, _)| card.kind == kind).count();
            let kinds = [CardKind::Answer, CardKind::ToolCall, CardKind::Deliverable];
            assert_eq!(kinds.map(number), [1, 3, 1], "{place}");
            let results = cards.iter().filter(|(card, _)| card.kind == CardKind::ToolResult);
            let mut results: Vec<_> = results.map(|(card, body)| (card.index, body)).collect();
            results.sort_by_key(|(index, _)| *index);
            let [(0, first), (1, second), (2, third)] = results[..] else { panic!("{place}") };
            let receipt = json!({ "receipt": "text" });
            assert_eq!([first, third], [&receipt; 2], "{place}");
            assert_eq!(second["end"], json!("done"), "{place}");
            assert_eq!(story(&store, "helper").await.1.len(), 1, "it is asked once");
            // The task, the answer with its calls, and their results.
            let asked = check_prefixes(&store).await.unwrap();
            assert_eq!(asked.openai().len(), 5, "{place}");
            assert_intact(&store).await;
            if !is_killed {
                assert!(before > 6, "{point}: {before}");
                break;
            }
        }
    }
}
