//! A move out of a state ends the calls that have not begun, with their gates, in the same commit.

use machine::journal::{Entry, Fact};
use machine_tests::random::setting;
use tokio::sync::Notify;

use crate::worker::prelude::*;

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

/// A trip with a call behind a gate that is open, and one without a gate.
struct Booked {
    id: Id,
    gate: Id,
    gated: Id,
    plain: Id,
}

impl Booked {
    async fn new(store: &Store) -> Self {
        let id = create(store, Trip::new(0)).await;
        let (mut gate, mut gated) = charge(1).ask::<Charge>(None, ecs_node()).unwrap();
        let mut plain = Planned::<Charge>::new(charge(2)).unwrap();
        let batch = store.batch().create(gate.machine()).create_child(id, gated.machine());
        batch.create_child(id, plain.machine()).write().await.unwrap();
        Self { id, gate: gate.id(), gated: gated.id(), plain: plain.id() }
    }

    async fn are(&self, store: &Store, [gate, gated, plain]: [&str; 3]) {
        for (id, status) in [(self.gate, gate), (self.gated, gated), (self.plain, plain)] {
            is(store, id, status).await;
        }
    }
}

async fn booking(store: &Store, id: Id) -> Trip<trip::Booking> {
    let AnyTrip::Booking(trip) = store.load(id).await.unwrap() else { panic!("it is not booking") };
    trip
}

async fn pauses(store: &Store, id: Id) {
    let trip = booking(store, id).await;
    store.commit(&mut trip.pause("wait".to_owned(), ann())).await.unwrap();
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
#[test]
fn a_gate_that_the_same_batch_ends_is_left_alone() {
    each(async |store| {
        let booked = Booked::new(&store).await;
        let mut trip = booking(&store, booked.id).await.pause("wait".to_owned(), ann());
        let AnyExecution::Waiting(asked) = store.load(booked.gate).await.unwrap() else { panic!() };
        let mut ended = asked.cancel("not needed".to_owned(), graph_runner());
        store.batch().commit(&mut trip).commit(&mut ended).write().await.unwrap();
        booked.are(&store, ["cancelled"; 3]).await;
        let AnyExecution::Cancelled(ended) = store.load(booked.gate).await.unwrap() else {
            panic!()
        };
        assert_eq!(ended.state().reason, "not needed");
    });
}

#[test]
fn the_commit_of_a_person_ends_calls_that_have_not_begun() {
    for by_message in [true, false] {
        each(async |store| {
            let booked = Booked::new(&store).await;
            let Booked { id, gate, gated, plain } = booked;
            if by_message {
                let pause = says(r#"{"trigger": "pause", "note": "wait"}"#, "1");
                store.send(id, &pause).await.unwrap();
                settle(worker(&store).handler(rests::<AnyTrip>())).await;
            } else {
                pauses(&store, id).await;
            }
            booked.are(&store, ["cancelled"; 3]).await;
            let AnyExecution::Cancelled(call) = store.load(plain).await.unwrap() else { panic!() };
            let why = "a person moved the trip to `paused` by `pause` before the call began";
            assert_eq!(call.state().reason, why);
            // One commit: its lines are one after the other, and it says who it was.
            let all = committed(&store).await;
            let moved = place_of(&all, id, |_, to| to == "paused").unwrap();
            let with_it: Vec<Id> = all[moved + 1..].iter().map(|(id, _)| *id).collect();
            assert_eq!(with_it, [gate, gated, gated, gated, plain, plain, plain]);
            assert!(all[moved + 1..].iter().any(|(_, entry)| entry.by.as_deref() == Some("ann")));
            let bank = Service::default();
            settle(worker(&store).handler(rests::<AnyTrip>()).tool::<Charge>(bank.clone())).await;
            assert_eq!(bank.calls(), 0);
        });
    }
}

/// Several moves in one commit are as if each had its own.
#[test]
fn a_commit_with_several_moves() {
    each(async |store| {
        let booked = Booked::new(&store).await;
        let trip = booking(&store, booked.id).await.wait(graph_runner());
        let mut call = Planned::<Charge>::new(charge(3)).unwrap();
        let mut trip = trip.resume(ann());
        let batch = store.batch().commit(&mut trip).create_child(booked.id, call.machine());
        batch.write().await.unwrap();
        booked.are(&store, ["cancelled"; 3]).await;
        // It came with the last move.
        is(&store, call.id(), "pending").await;
        let AnyExecution::Cancelled(ended) = store.load(booked.plain).await.unwrap() else {
            panic!("it is not cancelled")
        };
        let why = "graph_runner moved the trip to `paused` by `wait` before the call began";
        assert_eq!(ended.state().reason, why);
    });
}

/// A call that is under way is not stopped, and keeps its outcome.
#[test]
fn a_begun_call_continues() {
    each(async |store| {
        let (booked, bank) = (Booked::new(&store).await, Service::held());
        let drives = worker(&store).handler(rests::<AnyTrip>()).tool::<Charge>(bank.clone());
        let running = drives.start();
        bank.called().await;
        let trip = booking(&store, booked.id).await;
        store.commit(&mut trip.stop("enough".to_owned(), ann())).await.unwrap();
        booked.are(&store, ["cancelled", "cancelled", "running"]).await;
        bank.release();
        running.stop().await.unwrap();
        booked.are(&store, ["cancelled", "cancelled", "completed"]).await;
    });
}

/// Workers begin one call after the other; the pause does not wait until they have begun all.
#[test]
fn a_pause_comes_between_many_calls() {
    on_threads(async |store| {
        let id = create(&store, Trip::new(0)).await;
        let call = |cents| Planned::<Charge>::new(charge(cents)).unwrap();
        let mut calls: Vec<_> = (0..400).map(call).collect();
        let mut batch = store.batch();
        for call in &mut calls {
            batch = batch.create_child(id, call.machine());
        }
        batch.write().await.unwrap();
        let bank = Service::held();
        let drives = worker(&store).handler(rests::<AnyTrip>()).tool::<Charge>(bank.clone());
        let running = drives.start();
        until("calls are under way", async || bank.calls() >= 5).await;
        pauses(&store, id).await;
        for _ in &calls {
            bank.release();
        }
        running.stop().await.unwrap();
        let all = committed(&store).await;
        let paused = place_of(&all, id, |_, to| to == "paused").unwrap();
        let mut cancelled = 0;
        for call in &calls {
            let begun = place_of(&all, call.id(), |from, _| from == "pending").unwrap();
            let is_cancelled = state(&store, call.id()).await == "cancelled";
            cancelled += u32::from(is_cancelled);
            assert!(begun < paused || is_cancelled);
        }
        // The bank holds the first 16, which are all that a worker runs at the same time.
        assert!((400 - 16..=400 - 5).contains(&cancelled), "{cancelled} are cancelled");
    });
}

/// A handler that asks for a call while a person moves its machine on asked for the state before.
#[test]
fn a_handler_result_applies_only_to_the_state_it_saw() {
    each(async |store| {
        let id = create(&store, Trip::new(0)).await;
        let signals @ [asked, goes, looked] = &[(); 3].map(|()| Arc::new(Notify::new()));
        let signals = signals.clone();
        let calls = does(move |trip: AnyTrip, task| {
            let [asks, may, looks] = signals.clone();
            Box::pin(async move {
                if !matches!(trip, AnyTrip::Booking(_)) {
                    looks.notify_one();
                    return Ok(Next::Wait);
                }
                asks.notify_one();
                may.notified().await;
                task.call(Planned::<Charge>::new(charge(3))?);
                Ok(Next::Wait)
            })
        });
        let running = worker(&store).handler(calls).start();
        notified(asked).await;
        pauses(&store, id).await;
        goes.notify_one();
        notified(looked).await;
        running.stop().await.unwrap();
        assert_eq!(store.children(id).await.unwrap(), []);
    });
}

/// Calls are added and begun while a person pauses: what was there at the pause has begun before it, or never does.
#[test]
fn no_call_slips_past_a_pause() {
    let rounds: u32 = setting("CRASH_ROUNDS").unwrap_or(12);
    for round in 0..rounds {
        on_threads(async |store| {
            let id = create(&store, Trip::new(0)).await;
            let other = store.clone();
            let adds = tokio::spawn(async move {
                for cents in 0..8 {
                    let mut call = Planned::<Charge>::new(charge(cents)).unwrap();
                    let added = other.batch().create_child(id, call.machine()).write().await;
                    added.unwrap();
                    if cents % 2 == 0 {
                        // The pause may have been first.
                        drop(other.begin(call, tool_node()).await);
                    }
                }
            });
            for _ in 0..round % 7 {
                tokio::task::yield_now().await;
            }
            pauses(&store, id).await;
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
        });
    }
}
