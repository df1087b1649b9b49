//! The queue of an agent in a file, and the workers that run its turns: one at a time, each
//! delivered once (TN-2, TN-3, TN-5, TN-8).

use std::collections::BTreeSet;

use machine::{
    agent::{
        ActiveTurn, Agent, AgentError, AgentId, Agents, BoxId, Deliverable, Driver, Limits,
        MAX_CARD, NewTurn, TaskEvent, TurnEnd, TurnId, TurnRefusal, TurnStatus, Work,
    },
    effects::EffectError,
    journal::Fact,
    store::CommitError,
    worker::{Failure, Task},
};
use serde_json::json;
use tokio::sync::Notify;

use super::support::{agent, id, new_turn, turn};
use crate::{
    store::support::Place,
    worker::prelude::{
        Arc, Count, Duration, Hand, Store, Worker, assert_err, notified, on_threads, settle, timed,
        until, worker,
    },
};

/// Delivers the number of its call. With `hold`, it says that it was called, and waits.
#[derive(Default)]
pub(super) struct Clerk {
    pub(super) calls: Count,
    pub(super) hold: Option<Arc<(Notify, Notify)>>,
}

impl Clerk {
    pub(super) fn held() -> (Self, Arc<(Notify, Notify)>) {
        let hold = Arc::new((Notify::new(), Notify::new()));
        (Self { hold: Some(Arc::clone(&hold)), ..Self::default() }, hold)
    }
}

impl Agent for Clerk {
    async fn run(&self, _: &AgentId, _: &ActiveTurn, _: &Task) -> Result<Work, Failure> {
        let call = self.calls.add();
        if let Some(hold) = &self.hold {
            hold.0.notify_one();
            notified(&hold.1).await;
        }
        Ok(Deliverable::Done(json!({ "call": call })).into())
    }
}

/// Its results lack a field, or are too large.
struct Careless;

impl Agent for Careless {
    async fn run(&self, agent: &AgentId, _: &ActiveTurn, _: &Task) -> Result<Work, Failure> {
        let size = usize::try_from(MAX_CARD)?;
        let is_short = agent.0 == "planner";
        let result = if is_short { json!({ "prose": 1 }) } else { json!("a".repeat(size)) };
        Ok(Deliverable::Done(result).into())
    }
}

pub(super) fn clerks(store: &Store) -> Worker {
    worker(store).handler(Driver(Clerk::default()))
}

/// Runs a worker until it says this. It is gone then, and its lease ends.
pub(super) async fn lose(worker: Worker, said: &Notify, hand: &Hand) {
    tokio::select! {
        ended = worker.run_until_idle() => panic!("{ended:?}"),
        () = notified(said) => {}
    }
    hand.pass(Duration::from_mins(1));
}

/// The agents of a store, among them two.
pub(super) async fn staff(store: &Store) -> Agents {
    let agents = Agents::of(store);
    for name in ["planner", "helper"] {
        agents.create(&agent(name)).await.unwrap();
    }
    agents
}

/// The agents of a store. The first has this number of turns, which write to box 1.
pub(super) async fn queued(store: &Store, turns: u64) -> Agents {
    let agents = staff(store).await;
    for number in 1..=turns {
        agents.enqueue(new_turn("planner", number, 1)).await.unwrap();
    }
    agents
}

/// The agents of a store. The first has a turn with these limits, which writes to box 1.
pub(super) async fn limited(store: &Store, limits: Limits) -> Agents {
    let agents = staff(store).await;
    let mut new = new_turn("planner", 1, 1);
    new.task.terms.limits = limits;
    agents.enqueue(new).await.unwrap();
    agents
}

/// A time passes. A worker looks at it when something is written: a turn of the helper.
pub(super) async fn passes(time: Duration, hand: &Hand, agents: &Agents, number: u64) {
    hand.pass(time);
    agents.enqueue(new_turn("helper", number, number)).await.unwrap();
}

/// The moves of a head, and the events of its turns.
pub(super) async fn story(store: &Store, name: &str) -> (Vec<String>, Vec<TaskEvent>) {
    let entries = store.history(agent(name).head()).await.unwrap().entries;
    let (mut moves, mut events) = (Vec::new(), Vec::new());
    for entry in entries {
        let Fact::Moved { trigger, payload, .. } = entry.fact else { continue };
        moves.push(trigger.into_owned());
        let event = payload.get("event").cloned();
        events.extend(event.map(|event| serde_json::from_value::<TaskEvent>(event).unwrap()));
    }
    (moves, events)
}

async fn queue(agents: &Agents, name: &str) -> Vec<TurnId> {
    let queued = agents.queued(&agent(name), 100).await.unwrap();
    queued.into_iter().map(|(turn, _)| turn).collect()
}

async fn active(agents: &Agents, name: &str) -> Option<TurnId> {
    agents.head(&agent(name)).await.unwrap().active.map(|turn| turn.id)
}

/// In the order in which they were enqueued, also if the clock goes back.
#[test]
fn turns_run_one_after_the_other() {
    timed(async |store: Store, hand: Hand| {
        let agents = staff(&store).await;
        for number in [3, 1, 2] {
            agents.enqueue(new_turn("planner", number, 1)).await.unwrap();
            hand.advance(-5);
        }
        assert_eq!(active(&agents, "planner").await, Some(turn(3)), "it was idle");
        assert_eq!(queue(&agents, "planner").await, [turn(1), turn(2)]);
        assert!(queue(&agents, "helper").await.is_empty());
        settle(clerks(&store)).await;

        let (moves, events) = story(&store, "planner").await;
        assert_eq!(moves, ["dispatch", "claim", "deliver"].repeat(3));
        let ends: Vec<_> = events.iter().map(|it| (it.turn, it.epoch, it.end)).collect();
        let done = |number, epoch| (turn(number), epoch, TurnEnd::Done);
        assert_eq!(ends, [done(3, 1), done(1, 2), done(2, 3)]);
        let cards = agents.cards(BoxId(id(1)), 100).await.unwrap();
        let written: Vec<_> = cards.iter().map(|(card, _)| (card.header.id, card.turn)).collect();
        let expected: Vec<_> = events.iter().map(|it| (it.deliverable, it.turn)).collect();
        assert_eq!(written, expected, "each event names the card in its box");
        assert_eq!(cards[2].1, json!({ "call": 2 }));
        for event in &events {
            let record = agents.turn(event.turn).await.unwrap().unwrap();
            let TurnStatus::Delivered { end, deliverable, .. } = record.status else {
                panic!("{record:?}")
            };
            assert_eq!((end, deliverable), (event.end, event.deliverable));
        }
        assert!(queue(&agents, "planner").await.is_empty());
        let head = agents.head(&agent("planner")).await.unwrap();
        assert_eq!((head.epoch, head.active), (3, None));
    });
}

#[test]
fn a_person_gets_a_turn_at_once_or_not_at_all() {
    timed(async |store: Store, _: Hand| {
        let agents = staff(&store).await;
        agents.ui_action(new_turn("planner", 1, 1)).await.unwrap();
        let busy = agents.ui_action(new_turn("planner", 2, 1)).await;
        assert_err!(busy, AgentError::Refused(TurnRefusal::Busy { turn: of }) if *of == turn(1));
        assert_eq!(agents.turn(turn(2)).await.unwrap(), None, "nothing was written");
        settle(clerks(&store)).await;
        agents.ui_action(new_turn("planner", 2, 1)).await.unwrap();
        assert_eq!(active(&agents, "planner").await, Some(turn(2)));
    });
}

#[test]
fn a_repeated_request_changes_nothing() {
    timed(async |store: Store, _: Hand| {
        let agents = staff(&store).await;
        for _ in 0..2 {
            agents.create(&agent("planner")).await.unwrap();
            agents.ui_action(new_turn("planner", 1, 1)).await.unwrap();
            agents.enqueue(new_turn("planner", 2, 1)).await.unwrap();
        }
        assert_eq!(queue(&agents, "planner").await, [turn(2)]);
        settle(clerks(&store)).await;
        agents.enqueue(new_turn("planner", 2, 1)).await.unwrap();
        settle(clerks(&store)).await;
        assert_eq!(story(&store, "planner").await.1.len(), 2);

        let other = agents.enqueue(new_turn("planner", 2, 3)).await;
        assert_err!(
            other,
            AgentError::Refused(TurnRefusal::TurnIdConflict { turn: of }) if *of == turn(2)
        );
    });
}

#[test]
fn unknown_agents_and_unusable_names_are_refused() {
    timed(async |store: Store, _: Hand| {
        let agents = Agents::of(&store);
        let unknown = agents.enqueue(new_turn("nobody", 1, 1)).await;
        assert_err!(unknown, AgentError::Refused(TurnRefusal::UnknownAgent { .. }));
        for name in ["", " planner", "plan\u{202e}ner", &"a".repeat(201)] {
            let refused = agents.create(&agent(name)).await;
            assert_err!(
                refused,
                AgentError::Commit(EffectError::Commit(CommitError::Refused { .. }))
            );
        }
    });
}

/// The input of a turn does not change after it was enqueued, so it must be there.
#[test]
fn a_turn_reads_cards_that_exist() {
    timed(async |store: Store, _: Hand| {
        let agents = staff(&store).await;
        let mut reads = new_turn("helper", 3, 3);
        reads.task.context_box = BoxId(id(1));
        for cards in 0..2 {
            agents.enqueue(new_turn("planner", 1 + cards, 1)).await.unwrap();
            reads.task.context_cards = 1 + cards;
            let early = agents.enqueue(reads.clone()).await;
            assert_err!(
                early,
                AgentError::Refused(TurnRefusal::MissingCards { cards: of, .. })
                    if *of == 1 + cards
            );
            assert_eq!(agents.turn(turn(3)).await.unwrap(), None, "nothing was written");
            settle(clerks(&store)).await;
        }
        agents.enqueue(reads).await.unwrap();
        assert_eq!(active(&agents, "helper").await, Some(turn(3)));
        let mut all = new_turn("helper", 4, 3);
        all.task.context_cards = u64::MAX;
        let missing = agents.ui_action(all).await;
        assert_err!(missing, AgentError::Refused(TurnRefusal::MissingCards { .. }));
    });
}

#[test]
fn an_unusable_result_is_delivered_as_a_failure() {
    timed(async |store: Store, _: Hand| {
        let agents = staff(&store).await;
        let rows = [("planner", 1, "lacks `poem`"), ("helper", 2, "bytes, more than")];
        for (name, number, _) in rows {
            let mut new = new_turn(name, number, number);
            new.task.terms.result_fields = vec!["poem".to_owned()];
            agents.enqueue(new).await.unwrap();
        }
        settle(worker(&store).handler(Driver(Careless))).await;
        for (name, number, why) in rows {
            let (moves, events) = story(&store, name).await;
            assert_eq!(moves, ["dispatch", "claim", "deliver"]);
            assert_eq!(events[0].end, TurnEnd::Failed);
            let cards = agents.cards(BoxId(id(number)), 10).await.unwrap();
            let body = cards[0].1["refused"].as_str().unwrap();
            assert!(body.contains(why), "{body}");
        }
    });
}

/// Until its turns are delivered, a box belongs to their agent.
#[test]
fn a_box_has_one_writer() {
    timed(async |store: Store, _: Hand| {
        let agents = staff(&store).await;
        for number in [1, 2] {
            agents.enqueue(new_turn("planner", number, 7)).await.unwrap();
        }
        let taken = agents.enqueue(new_turn("helper", 3, 7)).await;
        let planner = agent("planner");
        assert_err!(
            taken,
            AgentError::Refused(TurnRefusal::BoxTaken { agent, .. }) if *agent == planner
        );
        settle(clerks(&store)).await;
        agents.enqueue(new_turn("helper", 3, 7)).await.unwrap();
        settle(clerks(&store)).await;
        assert_eq!(agents.cards(BoxId(id(7)), 100).await.unwrap().len(), 3);
    });
}

/// The worker that has lost it delivers nothing: neither event, nor card, nor record.
#[test]
fn a_worker_that_takes_over_raises_the_epoch() {
    timed(async |store: Store, hand: Hand| {
        let agents = queued(&store, 1).await;
        let (frozen, hold) = Clerk::held();
        let lease = Duration::from_mins(30);
        let first = worker(&store).lease(lease).handler(Driver(frozen)).start();
        notified(&hold.0).await;
        hand.pass(lease * 2);
        settle(clerks(&store)).await;
        hold.1.notify_one();
        first.stop().await.unwrap();

        let (moves, events) = story(&store, "planner").await;
        assert_eq!(moves, ["dispatch", "claim", "reclaim", "deliver"]);
        assert_eq!(events[0].epoch, 2);
        let cards = agents.cards(BoxId(id(1)), 100).await.unwrap();
        let cards: Vec<_> = cards.iter().map(|(card, _)| (card.header.id, card.epoch)).collect();
        assert_eq!(cards, [(events[0].deliverable, 2)]);
        let record = agents.turn(turn(1)).await.unwrap().unwrap();
        let TurnStatus::Delivered { deliverable, .. } = record.status else { panic!("{record:?}") };
        assert_eq!(deliverable, events[0].deliverable);
    });
}

#[test]
fn a_turn_that_was_given_back_keeps_its_epoch() {
    timed(async |store: Store, _: Hand| {
        queued(&store, 1).await;
        let (slow, hold) = Clerk::held();
        let first = worker(&store).grace(Duration::ZERO).handler(Driver(slow)).start();
        notified(&hold.0).await;
        first.stop().await.unwrap();
        settle(clerks(&store)).await;
        let (moves, events) = story(&store, "planner").await;
        assert_eq!(moves, ["dispatch", "claim", "deliver"]);
        assert_eq!(events[0].epoch, 1);
    });
}

/// Programs add turns while a worker delivers others, some to the same box. None is forgotten.
#[test]
fn turns_that_come_at_any_time_are_delivered() {
    on_threads(async |store: Store| {
        let agents = staff(&store).await;
        let running = clerks(&store).start();
        let adds: Vec<_> = (1..=30)
            .map(|number| {
                let agents = agents.clone();
                let new: NewTurn = new_turn("planner", number, 1 + number % 2);
                tokio::spawn(async move { agents.enqueue(new).await })
            })
            .collect();
        for add in adds {
            add.await.unwrap().unwrap();
        }
        until("30 turns are delivered", async || story(&store, "planner").await.1.len() == 30)
            .await;
        running.stop().await.unwrap();
        let (_, events) = story(&store, "planner").await;
        let turns: BTreeSet<_> = events.iter().map(|event| event.turn).collect();
        assert_eq!(turns, (1..=30).map(turn).collect::<BTreeSet<_>>());
        let epochs: Vec<_> = events.iter().map(|event| event.epoch).collect();
        assert_eq!(epochs, (1..=30_u64).collect::<Vec<_>>());
    });
}

/// An edit concerns one turn, and a verification reports it.
#[tokio::test]
async fn an_edited_record_is_noticed() {
    let place = Place::new().await;
    let agents = staff(&place.store).await;
    for (number, name) in [(1, "planner"), (2, "helper")] {
        agents.enqueue(new_turn(name, number, number)).await.unwrap();
    }
    for mistake in ["DELETE FROM record", "UPDATE record SET id = zeroblob(16)"] {
        let refused = place.raw().execute(mistake, []).unwrap_err().to_string();
        assert!(refused.contains("record"), "{refused}");
    }
    let edit = "UPDATE record SET body = replace(body, 'planner', 'helper') WHERE kind = 'turn'
                AND body LIKE '%planner%'";
    assert_eq!(place.unprotected().execute(edit, []).unwrap(), 1);
    let refused = agents.turn(turn(1)).await.unwrap_err().to_string();
    assert!(refused.contains("its record `turn` was changed"), "{refused}");
    assert!(agents.turn(turn(2)).await.unwrap().is_some());
    let report = place.store.verify_all(|_| ()).await.unwrap();
    let reasons: Vec<_> = report.problems.iter().map(|it| it.reason.as_str()).collect();
    assert_eq!(reasons, ["its record `turn` was changed: the seal does not match"]);
}
