//! A person who moves a machine on ends its calls that have not begun, with their gates, in the same commit.

use std::sync::{Arc, atomic::Ordering};

use machine::{
    Id,
    actor::{GraphRunner, Human},
    contract::{AnyExecution, Contract, Planned, execution},
    journal::{Entry, Fact},
    machine,
    store::Store,
    worker::{Next, Worker},
};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use crate::worker::{
    shop::{Bank, Charge},
    support::{Does, actors, ann, create, does, each, says, settle, worker},
};

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Trip {
    #[initial]
    #[on(pause(note) => Paused, by = Human)]
    #[on(wish(text: String, wishes = wishes + 1) => Booking, by = Human)]
    #[on(wait => Paused(note = "full".to_owned()), by = GraphRunner)]
    #[on(stop(why) => Stopped, by = Human)]
    Booking { wishes: u32 },
    #[stable]
    #[on(resume(wishes = 0) => Booking, by = Human)]
    Paused { note: String },
    #[terminal]
    Stopped { why: String },
}

/// It waits.
fn waits() -> Does<AnyTrip> {
    does(|_, _| Box::pin(async { Ok(Next::Wait) }))
}

fn trip() -> Trip<trip::Booking> {
    Trip::new(0)
}

/// A call behind a gate that is open, and one without a gate.
async fn calls(store: &Store, trip: Id) -> (Id, Id, Id) {
    let contract = |cents| Contract::of(&Charge { cents }, &actors().reasoning_node).unwrap();
    let (mut gate, mut gated) = contract(1).ask::<Charge>(None, &actors().ecs_node).unwrap();
    let mut plain = Planned::<Charge>::new(contract(2)).unwrap();
    let batch = store.batch().create(gate.machine()).create_child(trip, gated.machine());
    batch.create_child(trip, plain.machine()).write().await.unwrap();
    (gate.id(), gated.id(), plain.id())
}

async fn status(store: &Store, id: Id) -> execution::Status {
    store.load::<AnyExecution>(id).await.unwrap().status()
}

/// Everything that was committed, in order.
async fn committed(store: &Store) -> Vec<(Id, Entry)> {
    let end = store.position().await.unwrap();
    let mut entries = store.subscribe(None).await.unwrap();
    let mut all = Vec::new();
    loop {
        let next = entries.next().await.unwrap();
        all.push((next.id, next.entry));
        if next.position >= end {
            return all;
        }
    }
}

/// The place of the first move that fits.
fn place_of(all: &[(Id, Entry)], of: Id, fits: impl Fn(&str, &str) -> bool) -> Option<usize> {
    all.iter().position(|(id, entry)| {
        let Fact::Moved { from, to, .. } = &entry.fact else { return false };
        *id == of && fits(from, to)
    })
}

/// The program withdraws the gate itself, in the batch of the move.
#[tokio::test]
async fn a_gate_that_the_same_batch_ends_is_left_alone() {
    each(async |store: Store| {
        let id = create(&store, trip()).await;
        let (gate, gated, plain) = calls(&store, id).await;
        let AnyTrip::Booking(trip) = store.load(id).await.unwrap() else { panic!() };
        let mut trip = trip.pause("wait".to_owned(), &ann());
        let AnyExecution::Waiting(asked) = store.load(gate).await.unwrap() else { panic!() };
        let mut ended = asked.cancel("not needed".to_owned(), &actors().graph_runner);
        store.batch().commit(&mut trip).commit(&mut ended).write().await.unwrap();
        for id in [gate, gated, plain] {
            assert_eq!(status(&store, id).await, execution::Status::Cancelled);
        }
        let AnyExecution::Cancelled(ended) = store.load(gate).await.unwrap() else { panic!() };
        assert_eq!(ended.state().reason, "not needed");
    })
    .await;
}

#[tokio::test]
async fn the_commit_of_a_person_ends_calls_that_have_not_begun() {
    for by_message in [true, false] {
        each(async |store: Store| {
            let id = create(&store, trip()).await;
            let (gate, gated, plain) = calls(&store, id).await;
            if by_message {
                let pause = says(r#"{"trigger": "pause", "note": "wait"}"#, "1");
                store.send(id, &pause).await.unwrap();
                settle(worker(&store).handler(waits())).await;
            } else {
                let AnyTrip::Booking(trip) = store.load(id).await.unwrap() else { panic!() };
                let mut trip = trip.pause("wait".to_owned(), &ann());
                store.commit(&mut trip).await.unwrap();
            }
            for id in [gate, gated, plain] {
                assert_eq!(status(&store, id).await, execution::Status::Cancelled);
            }
            let AnyExecution::Cancelled(call) = store.load(plain).await.unwrap() else { panic!() };
            let why = "a person moved the trip to `paused` by `pause` before the call began";
            assert_eq!(call.state().reason, why);
            // One commit: its lines are one after the other, and it says who it was.
            let all = committed(&store).await;
            let moved = place_of(&all, id, |_, to| to == "paused").unwrap();
            let with_it: Vec<Id> = all[moved + 1..].iter().map(|(id, _)| *id).collect();
            assert_eq!(with_it, [gate, gated, gated, gated, plain, plain, plain]);
            assert!(all[moved + 1..].iter().any(|(_, entry)| entry.by.as_deref() == Some("ann")));
            let bank = Bank::default();
            settle(worker(&store).handler(waits()).tool::<Charge>(bank.clone())).await;
            assert_eq!(bank.0.load(Ordering::SeqCst), 0);
            assert!(store.verify_all(|_| ()).await.unwrap().is_clean());
        })
        .await;
    }
}

/// Requests of people that keep the state, and the moves of programs, leave calls alone.
#[tokio::test]
async fn other_moves_end_no_call() {
    each(async |store: Store| {
        let id = create(&store, trip()).await;
        let (gate, gated, plain) = calls(&store, id).await;
        let AnyTrip::Booking(trip) = store.load(id).await.unwrap() else { panic!() };
        let mut trip = trip.wish("a window".to_owned(), &ann());
        store.commit(&mut trip).await.unwrap();
        let mut trip = trip.wait(&actors().graph_runner);
        store.commit(&mut trip).await.unwrap();
        assert_eq!(status(&store, gate).await, execution::Status::Waiting);
        for id in [gated, plain] {
            assert_eq!(status(&store, id).await, execution::Status::Pending);
        }
    })
    .await;
}

/// A bank that answers when it is told to.
#[derive(Clone, Default)]
struct Slow {
    asked: Arc<Notify>,
    answers: Arc<Notify>,
}

impl machine::contract::Perform<Charge> for Slow {
    async fn perform(&self, _: &machine::contract::Call<Charge>) -> machine::contract::Answer {
        self.asked.notify_one();
        self.answers.notified().await;
        Ok(machine::contract::Applied::new("paid"))
    }
}

/// A call that is under way is not stopped, and keeps its outcome.
#[tokio::test]
async fn a_call_that_has_begun_goes_on() {
    each(async |store: Store| {
        let id = create(&store, trip()).await;
        let (_, gated, plain) = calls(&store, id).await;
        let bank = Slow::default();
        let drives: Worker = worker(&store).handler(waits()).tool::<Charge>(bank.clone());
        let running = drives.start();
        bank.asked.notified().await;
        let AnyTrip::Booking(trip) = store.load(id).await.unwrap() else { panic!() };
        let mut trip = trip.stop("enough".to_owned(), &ann());
        store.commit(&mut trip).await.unwrap();
        assert_eq!(status(&store, gated).await, execution::Status::Cancelled);
        assert_eq!(status(&store, plain).await, execution::Status::Running);
        bank.answers.notify_one();
        running.stop().await.unwrap();
        assert_eq!(status(&store, plain).await, execution::Status::Completed);
    })
    .await;
}

/// Workers begin one call after the other; the pause does not wait until they have begun all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pause_comes_between_many_calls() {
    each(async |store: Store| {
        let id = create(&store, trip()).await;
        let contract = |cents| Contract::of(&Charge { cents }, &actors().reasoning_node).unwrap();
        let mut calls: Vec<_> =
            (0..400).map(|cents| Planned::<Charge>::new(contract(cents)).unwrap()).collect();
        let mut batch = store.batch();
        for call in &mut calls {
            batch = batch.create_child(id, call.machine());
        }
        batch.write().await.unwrap();
        let bank = Bank::default();
        let running = worker(&store).handler(waits()).tool::<Charge>(bank.clone()).start();
        while bank.0.load(Ordering::SeqCst) < 5 {
            tokio::task::yield_now().await;
        }
        let AnyTrip::Booking(trip) = store.load(id).await.unwrap() else { panic!() };
        let mut trip = trip.pause("wait".to_owned(), &ann());
        store.commit(&mut trip).await.unwrap();
        running.stop().await.unwrap();
        let all = committed(&store).await;
        let paused = place_of(&all, id, |_, to| to == "paused").unwrap();
        let mut cancelled = 0;
        for call in &calls {
            let begun = place_of(&all, call.id(), |from, _| from == "pending").unwrap();
            let is_cancelled = status(&store, call.id()).await == execution::Status::Cancelled;
            cancelled += u32::from(is_cancelled);
            assert!(begun < paused || is_cancelled);
        }
        assert!(cancelled > 0, "the pause came after all calls");
        assert!(store.verify_all(|_| ()).await.unwrap().is_clean());
    })
    .await;
}

/// A handler that asks for a call while a person moves its machine on asked for the state before.
#[tokio::test]
async fn what_a_handler_asks_for_is_for_the_state_that_it_has_seen() {
    each(async |store: Store| {
        let id = create(&store, trip()).await;
        let [asked, goes, looked] = [(); 3].map(|()| Arc::new(Notify::new()));
        let (asks, may, looks) = (Arc::clone(&asked), Arc::clone(&goes), Arc::clone(&looked));
        let calls = does(move |trip: AnyTrip, task| {
            let (asks, may, looks) = (Arc::clone(&asks), Arc::clone(&may), Arc::clone(&looks));
            let books = matches!(trip, AnyTrip::Booking(_));
            Box::pin(async move {
                if !books {
                    looks.notify_one();
                    return Ok(Next::Wait);
                }
                asks.notify_one();
                may.notified().await;
                let contract = Contract::of(&Charge { cents: 3 }, &task.actors().reasoning_node)?;
                task.call(Planned::<Charge>::new(contract)?);
                Ok(Next::Wait)
            })
        });
        let running = worker(&store).handler(calls).start();
        asked.notified().await;
        let AnyTrip::Booking(trip) = store.load(id).await.unwrap() else { panic!() };
        let mut trip = trip.pause("wait".to_owned(), &ann());
        store.commit(&mut trip).await.unwrap();
        goes.notify_one();
        looked.notified().await;
        running.stop().await.unwrap();
        assert_eq!(store.children(id).await.unwrap(), []);
    })
    .await;
}

/// Calls are added and begun while a person pauses: what was there at the pause has begun before it, or never does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_call_slips_past_a_pause() {
    let rounds = std::env::var("CRASH_ROUNDS").ok().and_then(|it| it.parse().ok()).unwrap_or(12);
    for round in 0..rounds {
        each(async |store: Store| {
            let id = create(&store, trip()).await;
            let other = store.clone();
            let adds = tokio::spawn(async move {
                for cents in 0..8 {
                    let contract = Contract::of(&Charge { cents }, &actors().reasoning_node);
                    let mut call = Planned::<Charge>::new(contract.unwrap()).unwrap();
                    let added = other.batch().create_child(id, call.machine()).write().await;
                    added.unwrap();
                    if cents % 2 == 0 {
                        let tools = actors().tool_node;
                        // The pause may have been first.
                        drop(other.begin(call, &tools).await);
                    }
                }
            });
            for _ in 0..round % 7 {
                tokio::task::yield_now().await;
            }
            let AnyTrip::Booking(trip) = store.load(id).await.unwrap() else { panic!() };
            let mut trip = trip.pause("wait".to_owned(), &ann());
            store.commit(&mut trip).await.unwrap();
            adds.await.unwrap();
            let all = committed(&store).await;
            let paused = place_of(&all, id, |_, to| to == "paused").unwrap();
            for child in store.children(id).await.unwrap() {
                let created = all.iter().position(|(id, _)| *id == child.id).unwrap();
                let begun = place_of(&all, child.id, |from, _| from == "pending");
                let ended = place_of(&all, child.id, |_, to| to == "cancelled");
                let in_time = begun.is_some_and(|begun| begun < paused && ended.is_none());
                assert!(
                    created > paused || in_time || ended.is_some(),
                    "round {round}: {child:?}: {created} {begun:?} {ended:?}, paused at {paused}"
                );
            }
        })
        .await;
    }
}
