//! Delivered turns that are pruned while their heads live: at any moment, also cut off in between,
//! nothing is lost that a live turn can read.

use std::{
    collections::BTreeMap,
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
};

use machine::{
    agent::{
        ActiveTurn, Agent, AgentError, AgentId, Agents, BoxId, BoxUse, CallTarget, CardId,
        Conversation, Deliverable, Driver, MemberId, ModelAnswer, NewCard, NewTurn, Task, TurnId,
        TurnRefusal, TurnRequest, TurnStatus, TurnStop, Work,
    },
    worker::{Failure, Task as Job},
};
use machine_tests::random::Random;
use serde_json::{Value, json};

use super::{
    queue::{clerks, staff},
    support::{Desk, EARLY, agent, agent_call, id, new_turn, turn},
};
use crate::worker::prelude::{
    Duration, Hand, Store, ann, assert_err, on_threads, settle, timed, worker,
};

/// The planner asks someone outside, and delegates a turn with its own input. The helper delivers.
struct Walker;

impl Agent for Walker {
    async fn run(&self, agent: &AgentId, active: &ActiveTurn, _: &Job) -> Result<Work, Failure> {
        if agent.0 != "planner" || active.step > 1 || active.must_deliver() {
            return Ok(Deliverable::Done(json!({ "by": agent })).into());
        }
        let task = Task { output_box: BoxId(active.id.0), ..active.task.clone() };
        let helper = AgentId("helper".to_owned());
        let targets = [CallTarget::Outside, CallTarget::Agent { agent: helper, task }];
        let calls = (0..).zip(targets).map(|(number, it)| agent_call(number, it, Some(HOUR)));
        let (body, calls) = (json!("I shall ask"), calls.collect());
        Ok(Work::Call(ModelAnswer { body, calls, ..ModelAnswer::default() }))
    }
}

fn asked(turn: TurnId) -> MemberId {
    MemberId { turn, step: 1, index: 0 }
}

async fn work(store: &Store) {
    settle(worker(store).handler(Driver(Walker))).await;
}

/// Which of the turns were pruned.
async fn pruned<const N: usize>(agents: &Agents, turns: [u64; N]) -> [bool; N] {
    let mut pruned = [false; N];
    for (is_pruned, number) in pruned.iter_mut().zip(turns) {
        let record = agents.turn(turn(number)).await.unwrap().unwrap();
        *is_pruned = record.pruned_at.is_some();
    }
    pruned
}

const HOUR: Duration = Duration::from_hours(1);

#[test]
fn what_is_left_says_that_it_was_pruned() {
    timed(async |store: Store, hand: Hand| {
        let agents = staff(&store).await;
        let new = |number| new_turn("helper", number, 1);
        for number in 1..=4 {
            agents.enqueue(new(number)).await.unwrap();
            work(&store).await;
            hand.pass(HOUR);
        }
        let before = agents.cards(BoxId(id(1)), 10).await.unwrap();
        let kept = agents.prune(HOUR * 2, 3, ann()).await.unwrap();
        assert_eq!(kept.to_string(), "1 turn with 1 card");
        let kept = agents.prune(HOUR * 3, 0, ann()).await.unwrap();
        assert_eq!((kept.turns, kept.cards, kept.problems), (1, 1, Vec::new()));
        assert_eq!(pruned(&agents, [1, 2, 3, 4]).await, [true, true, false, false]);

        let after = agents.cards(BoxId(id(1)), 10).await.unwrap();
        for (place, ((card, body), (was, text))) in after.iter().zip(&before).enumerate() {
            assert_eq!((card.header, card.kind, card.turn), (was.header, was.kind, was.turn));
            assert_eq!(card.pruned_at.is_some(), place < 2);
            assert_eq!(body, if place < 2 { &Value::Null } else { text });
        }
        agents.enqueue(new(1)).await.unwrap();
        let stopped = agents.stop(turn(1), ann()).await.unwrap();
        let TurnStop::Ended { deliverable, .. } = stopped else { panic!("{stopped:?}") };
        assert_eq!(deliverable, before[0].0.header.id);

        // The next turn goes on with the box. What was pruned is not a part of what it asks.
        agents.enqueue(new(5)).await.unwrap();
        let active = agents.head(&agent("helper")).await.unwrap().active.unwrap();
        let asked = Conversation::load(&store, &active, |turn| turn.to_string()).await.unwrap();
        let asked: Vec<_> = asked.openai().iter().map(|it| it["content"].clone()).collect();
        assert_eq!((asked.len(), &asked[4]), (5, &json!(turn(5).to_string())), "{asked:?}");
        assert_eq!(asked[0], json!(turn(3).to_string()));
        assert_eq!(agents.prune(Duration::ZERO, 0, ann()).await.unwrap().turns, 0, "it is read");
        work(&store).await;
        let cards = agents.cards(BoxId(id(1)), 10).await.unwrap();
        assert_eq!((cards.len(), &cards[4].1), (5, &json!({ "by": "helper" })));

        let log = store.operations(2, None).await.unwrap().items;
        let log: Vec<_> = log.into_iter().map(Result::unwrap).collect();
        assert_eq!(log[0].operation, "prune turns");
        let outcomes = [&log[1], &log[0]].map(|line| line.outcome.as_deref().unwrap());
        assert_eq!(outcomes, ["begun", "done: 0 turns with 0 cards"]);
    });
}

/// A card of the first one names the deliverable of the second one.
#[test]
fn a_delegated_turn_is_kept_as_long_as_the_turn_that_has_delegated_it() {
    timed(async |store: Store, _: Hand| {
        let agents = staff(&store).await;
        agents.enqueue(new_turn("planner", 1, 500)).await.unwrap();
        work(&store).await;
        let child = MemberId { index: 1, ..asked(turn(1)) }.delegated();
        let is_pruned = async || agents.turn(child).await.unwrap().unwrap().pruned_at.is_some();
        assert_eq!(agents.prune(Duration::ZERO, 0, ann()).await.unwrap().turns, 0);
        assert!(!is_pruned().await);
        agents.answer(asked(turn(1)), json!("yes")).await.unwrap();
        work(&store).await;
        assert_eq!(agents.prune(Duration::ZERO, 0, ann()).await.unwrap().turns, 2);
        assert!(is_pruned().await);
        let again = agents.answer(asked(turn(1)), json!("yes")).await;
        assert_err!(again, AgentError::Refused(TurnRefusal::FinishedCall { .. }));
    });
}

/// Pruning writes the row of the box, too: one of the two comes first.
#[test]
fn a_turn_that_reads_a_box_writes_its_row() {
    let answered = Desk::answered(new_turn("planner", 1, 7), 0);
    let mut delivered = Desk::running(new_turn("planner", 1, 7));
    delivered.write(&TurnRequest::Deliver(delivered.delivery()));
    let mut reads = new_turn("helper", 2, 2);
    (reads.task.context_box, reads.task.context_cards) = (BoxId(id(7)), 1);
    for (mut desk, live) in [(answered, 1), (delivered, 0)] {
        let batch = desk.write(&TurnRequest::Enqueue { new: reads.clone(), now: EARLY });
        let planner = BoxUse { agent: agent("planner"), live, cards: 1 };
        let helper = BoxUse { agent: agent("helper"), live: 1, cards: 0 };
        let expected = [(BoxId(id(2)), helper), (BoxId(id(7)), planner)];
        assert_eq!(batch.boxes, BTreeMap::from(expected));
    }
}

/// A turn keeps what it could read when its enqueueing was acknowledged.
#[test]
fn a_new_turn_and_pruning_exclude_each_other() {
    on_threads(async |store: Store| {
        let agents = staff(&store).await;
        for number in 1..=30 {
            let output = BoxId(id(1000 + number));
            agents.enqueue(new_turn("planner", 2 * number, 1000 + number)).await.unwrap();
            settle(clerks(&store)).await;
            let mut reads = new_turn("helper", 2 * number + 1, 1);
            (reads.task.context_box, reads.task.context_cards) = (output, 1);
            let others = agents.clone();
            let prune = tokio::spawn(async move { others.prune(Duration::ZERO, 0, ann()).await });
            agents.enqueue(reads).await.unwrap();
            let read = agents.cards(output, 1).await.unwrap();
            prune.await.unwrap().unwrap();
            assert_eq!(agents.cards(output, 1).await.unwrap(), read);
        }
    });
}

/// Polls a future this many times more.
async fn cut<F: Future + Unpin>(mut future: F, mut polls: usize) -> Option<F::Output> {
    poll_fn(move |context: &mut Context<'_>| match Pin::new(&mut future).poll(context) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending if polls == 0 => Poll::Ready(None),
        Poll::Pending => {
            polls -= 1;
            Poll::Pending
        }
    })
    .await
}

/// Two turns have written to the box. Neither is pruned, at whatever moment the new one comes.
#[test]
fn a_turn_that_comes_while_its_context_is_pruned_keeps_all_of_it() {
    timed(async |store: Store, _: Hand| {
        let agents = staff(&store).await;
        for (moment, output) in (1000..1060).enumerate() {
            for number in [3 * output, 3 * output + 1] {
                agents.enqueue(new_turn("planner", number, output)).await.unwrap();
            }
            settle(clerks(&store)).await;
            let mut reads = new_turn("helper", 3 * output + 2, 1);
            (reads.task.context_box, reads.task.context_cards) = (BoxId(id(output)), 2);
            let mut prune = Box::pin(agents.prune(Duration::ZERO, 0, ann()));
            let done = cut(&mut prune, moment).await;
            agents.enqueue(reads).await.unwrap();
            let read = agents.cards(BoxId(id(output)), 2).await.unwrap();
            match done {
                Some(done) => done.unwrap(),
                None => prune.await.unwrap(),
            };
            assert_eq!(agents.cards(BoxId(id(output)), 2).await.unwrap(), read, "{moment}");
        }
    });
}

/// What was seen of the turns and boxes so far.
struct Walk {
    agents: Agents,
    turns: Vec<TurnId>,
    /// The cards of the boxes.
    boxes: BTreeMap<BoxId, Vec<NewCard>>,
    /// The cards that each live turn can read.
    read: BTreeMap<TurnId, Vec<CardId>>,
}

impl Walk {
    /// The cards of a box that were not pruned, of the first ones.
    async fn kept(&self, box_id: BoxId, count: usize) -> Vec<CardId> {
        let cards = self.agents.cards(box_id, count).await.unwrap();
        let kept = cards.iter().filter(|(card, _)| card.pruned_at.is_none());
        kept.map(|(card, _)| card.header.id).collect()
    }

    async fn enqueue(&mut self, random: &mut Random) {
        let number = self.turns.len() as u64 + 1;
        let (name, output) = *random.pick(&[("planner", 501), ("planner", 502), ("helper", 503)]);
        let mut new: NewTurn = new_turn(name, number, output);
        let others = self
            .boxes
            .iter()
            .filter(|(box_id, cards)| **box_id != new.task.output_box && !cards.is_empty());
        let others: Vec<_> = others.map(|(box_id, cards)| (*box_id, cards.len())).collect();
        let mut count = 0;
        if !others.is_empty() && random.percent(60) {
            let (box_id, cards) = *random.pick(&others);
            count = 1 + random.below(cards);
            (new.task.context_box, new.task.context_cards) = (box_id, count as u64);
        }
        let (id, task) = (new.id, new.task.clone());
        self.agents.enqueue(new).await.unwrap();
        let mut read = self.kept(task.output_box, usize::MAX).await;
        read.extend(self.kept(task.context_box, count).await);
        self.read.insert(id, read);
        self.turns.push(id);
    }

    async fn answer(&self, turn: TurnId) {
        // Perhaps it has not asked, or has the answer.
        let _ = self.agents.answer(asked(turn), json!("go on")).await;
    }

    async fn check(&mut self) {
        let children = self.turns.iter().map(|turn| MemberId { index: 1, ..asked(*turn) });
        let children: Vec<TurnId> = children.map(|call| call.delegated()).collect();
        for turn in self.turns.iter().chain(&children) {
            let Some(record) = self.agents.turn(*turn).await.unwrap() else { continue };
            let is_over = matches!(record.status, TurnStatus::Delivered { .. });
            assert!(is_over || record.pruned_at.is_none(), "{record:?}");
            if let (Some(_), Some(call)) = (record.pruned_at, record.parent) {
                let parent = self.agents.turn(call.turn).await.unwrap().unwrap();
                assert!(parent.pruned_at.is_some(), "{parent:?} has {record:?}");
            }
            let output = record.task.output_box;
            let cards = self.agents.cards(output, usize::MAX).await.unwrap();
            for (card, body) in cards.iter().filter(|(card, _)| card.turn == *turn) {
                assert_eq!(card.pruned_at, record.pruned_at, "{card:?}");
                assert_eq!(body.is_null(), card.pruned_at.is_some(), "{card:?}");
            }
            let cards: Vec<NewCard> = cards.iter().map(|(card, _)| card.header).collect();
            let before = self.boxes.insert(output, cards.clone()).unwrap_or_default();
            assert!(cards.starts_with(&before), "{output} has lost cards");
            if is_over {
                self.read.remove(turn);
                continue;
            }
            let mut kept = self.kept(output, usize::MAX).await;
            kept.extend(self.kept(record.task.context_box, usize::MAX).await);
            let read = self.read.get(turn).into_iter().flatten();
            let lost: Vec<_> = read.filter(|card| !kept.contains(card)).collect();
            assert!(lost.is_empty(), "{record:?} has lost {lost:?}");
        }
    }
}

/// In the end, all turns can be pruned, and their boxes go on.
#[test]
fn nothing_that_a_live_turn_can_read_is_pruned_at_any_moment() {
    let mut random = Random::of("pruned");
    for _ in 0..5 {
        let seed = random.number();
        timed(async |store: Store, hand: Hand| {
            let mut random = Random::new(seed);
            let (turns, boxes, read) = Default::default();
            let mut walk = Walk { agents: staff(&store).await, turns, boxes, read };
            for _ in 0..40 {
                match random.below(6) {
                    0 | 1 => walk.enqueue(&mut random).await,
                    2 => work(&store).await,
                    3 if !walk.turns.is_empty() => walk.answer(*random.pick(&walk.turns)).await,
                    3 => {}
                    _ => {
                        let age = Duration::from_secs(random.below(3) as u64);
                        let agents = walk.agents.clone();
                        let prune = agents.prune(age, random.below(3), ann());
                        if let Some(done) = cut(Box::pin(prune), random.below(80)).await {
                            assert_eq!(done.unwrap().problems, Vec::new());
                        }
                        // The write of what was dropped comes first.
                        walk.agents.create(&agent("planner")).await.unwrap();
                    }
                }
                hand.pass(Duration::from_secs(random.below(2) as u64));
                walk.check().await;
            }
            for _ in 0..=walk.turns.len() {
                work(&store).await;
                for turn in &walk.turns {
                    walk.answer(*turn).await;
                }
            }
            walk.agents.prune(Duration::ZERO, 0, ann()).await.unwrap();
            walk.check().await;
            assert!(walk.read.is_empty(), "all are delivered");
            for turn in &walk.turns {
                let record = walk.agents.turn(*turn).await.unwrap().unwrap();
                assert!(record.pruned_at.is_some(), "{record:?}");
            }
            walk.enqueue(&mut random).await;
            let last = *walk.turns.last().unwrap();
            for _ in 0..2 {
                work(&store).await;
                walk.answer(last).await;
            }
            walk.check().await;
            assert!(walk.read.is_empty(), "the last one is delivered");
        });
    }
}
