//! A move out of a state ends the calls that have not begun, with their gates, in the same commit.

use machine::journal::{Entry, Fact};
use machine_tests::random::setting;
use tokio::sync::Notify;

use crate::worker::prelude::*;

pub(super) fn is_asked_for(charge: &Charge) -> bool {
    charge.cents == 1
}

#[machine(durable, fields(charges: Vec<Charge>, in = Booking | Paused))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Trip {
    #[initial]
    #[invoke(charges: [Charge], approve = is_asked_for, unattended)]
    #[on(pause(note) => Paused, by = Human, detach)]
    #[on(revise(note) => Paused)]
    #[on(wait => Paused(note = "full".to_owned()), by = GraphRunner)]
    #[on(stop(why) => Stopped, by = Human, detach)]
    Booking,
    #[stable]
    #[on(resume => Booking, by = Human)]
    Paused { note: String },
    #[terminal]
    Stopped { why: String },
}

/// A trip in the store, with calls of these amounts.
async fn create_trip(store: &Store, cents: impl IntoIterator<Item = u32>) -> Id {
    create(store, Trip::new(cents.into_iter().map(|cents| Charge { cents }).collect())).await
}

/// The calls of a visit: one behind a gate that is open, and one without a gate.
pub(super) struct Calls {
    pub(super) gate: Id,
    pub(super) gated: Id,
    pub(super) plain: Id,
}

impl Calls {
    /// Those that the state of a machine has made last.
    pub(super) async fn of(store: &Store, parent: Id) -> Self {
        let calls = store.children(parent).await.unwrap().into_iter();
        let calls: Vec<Id> = calls.filter(|it| it.position.is_some()).map(|it| it.id).collect();
        let [.., gated, plain] = calls[..] else { panic!("{calls:?}") };
        let asked: AnyExecution = store.load(gated).await.unwrap();
        Self { gate: asked.context().behind().unwrap(), gated, plain }
    }

    pub(super) async fn are(&self, store: &Store, [gate, gated, plain]: [&str; 3]) {
        for (id, status) in [(self.gate, gate), (self.gated, gated), (self.plain, plain)] {
            is(store, id, status).await;
        }
    }
}

/// A trip with two calls.
async fn booked(store: &Store) -> (Id, Calls) {
    let id = create_trip(store, [1, 2]).await;
    (id, Calls::of(store, id).await)
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
pub(crate) async fn committed(store: &Store) -> Vec<(Id, Entry)> {
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
        let (id, calls) = booked(&store).await;
        let mut trip = booking(&store, id).await.pause("wait".to_owned(), ann());
        let AnyExecution::Waiting(asked) = store.load(calls.gate).await.unwrap() else { panic!() };
        let mut ended = asked.cancel("not needed".to_owned(), graph_runner());
        store.batch().commit(&mut trip).commit(&mut ended).write().await.unwrap();
        calls.are(&store, ["cancelled"; 3]).await;
        let AnyExecution::Cancelled(ended) = store.load(calls.gate).await.unwrap() else {
            panic!()
        };
        assert_eq!(ended.state().reason, "not needed");
    });
}

/// Who moves makes no difference: a person or a program that sends a message, or a program that
/// calls the method. A move that the table leaves open to anyone is made by whoever sent its
/// message; its method takes no actor.
#[test]
fn whoever_moves_ends_calls_that_have_not_begun() {
    let body = |trigger: &str| format!(r#"{{"trigger": "{trigger}", "note": "wait"}}"#);
    let person = Some(("human", "ann"));
    for (trigger, message, by) in [
        ("pause", Some(says(&body("pause"), "1")), person),
        ("pause", None, person),
        ("revise", Some(says(&body("revise"), "1")), person),
        ("revise", Some(tells(&body("revise"), "1")), Some(("graph_runner", "test"))),
        ("revise", None, None),
    ] {
        each(async |store| {
            let (id, calls) = booked(&store).await;
            let Calls { gate, gated, plain } = calls;
            let asked = store.gate(gate).await.unwrap();
            let drives = || worker(&store).handler(rests::<AnyTrip>());
            if let Some(message) = &message {
                store.send(id, message).await.unwrap();
                settle(drives()).await;
            } else if by.is_some() {
                pauses(&store, id).await;
            } else {
                let mut revised = booking(&store, id).await.revise("wait".to_owned());
                store.commit(&mut revised).await.unwrap();
            }
            calls.are(&store, ["cancelled"; 3]).await;
            // One commit: its lines are one after the other, and it says who it was.
            let all = committed(&store).await;
            let moved = place_of(&all, id, |_, to| to == "paused").unwrap();
            let with_it: Vec<Id> = all[moved + 1..].iter().map(|(id, _)| *id).collect();
            assert_eq!(with_it, [gated, gated, gated, plain, plain, plain, gate]);
            let entry = &all[moved].1;
            assert_eq!(entry.actor.as_deref().zip(entry.by.as_deref()), by);
            if by == person {
                let ended = &all[moved + 1..];
                assert!(ended.iter().any(|(_, entry)| entry.by.as_deref() == Some("ann")));
                let AnyExecution::Cancelled(call) = store.load(plain).await.unwrap() else {
                    panic!("it is not cancelled")
                };
                let why = "before the call began";
                let why = format!("a person moved the trip to `paused` by `{trigger}` {why}");
                assert_eq!(call.state().reason, why);
            }
            assert!(machine_tests::approve(&store, asked, ann()).await.is_err());
            let bank = Service::default();
            settle(drives().tool::<Charge>(bank.clone())).await;
            assert_eq!(bank.calls(), 0);
        });
    }
}

/// Several moves in one commit are as if each had its own.
#[test]
fn a_commit_with_several_moves() {
    each(async |store| {
        let (id, first) = booked(&store).await;
        let trip = booking(&store, id).await.wait(graph_runner());
        store.commit(&mut trip.resume(ann())).await.unwrap();
        first.are(&store, ["cancelled"; 3]).await;
        // They came with the last move.
        let calls = store.children(id).await.unwrap();
        assert_eq!(calls.len(), 4);
        assert!(calls[2..].iter().all(|call| call.status == "pending"), "{calls:?}");
        let AnyExecution::Cancelled(ended) = store.load(first.plain).await.unwrap() else {
            panic!("it is not cancelled")
        };
        let why = "graph_runner moved the trip to `paused` by `wait` before the call began";
        assert_eq!(ended.state().reason, why);
    });
}

/// Workers begin one call after the other; the pause does not wait until they have begun all.
#[test]
fn a_pause_comes_between_many_calls() {
    const CALLS: u32 = 256;
    on_threads(async |store| {
        let id = create_trip(&store, 2..CALLS + 2).await;
        let calls = store.children(id).await.unwrap();
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
            let begun = place_of(&all, call.id, |from, _| from == "pending").unwrap();
            let is_cancelled = state(&store, call.id).await == "cancelled";
            cancelled += u32::from(is_cancelled);
            assert!(begun < paused || is_cancelled);
        }
        // The bank holds the first 16, which are all that a worker runs at the same time.
        assert!((CALLS - 16..=CALLS - 5).contains(&cancelled), "{cancelled} are cancelled");
    });
}

/// A handler that creates a child while a person moves its machine on created it for the state
/// before.
#[test]
fn a_handler_result_applies_only_to_the_state_it_saw() {
    each(async |store| {
        let id = create_trip(&store, [2]).await;
        let signals @ [asked, goes, looked] = &[(); 3].map(|()| Arc::new(Notify::new()));
        let signals = signals.clone();
        let creates = does(move |trip: AnyTrip, task| {
            let [asks, may, looks] = signals.clone();
            Box::pin(async move {
                if !matches!(trip, AnyTrip::Booking(_)) {
                    looks.notify_one();
                    return Ok(Next::Wait);
                }
                asks.notify_one();
                may.notified().await;
                task.child(Lamp::new());
                Ok(Next::Wait)
            })
        });
        let running = worker(&store).handler(creates).start();
        notified(asked).await;
        pauses(&store, id).await;
        goes.notify_one();
        notified(looked).await;
        running.stop().await.unwrap();
        let children = store.children(id).await.unwrap();
        assert!(children.iter().all(|child| child.machine == "execution"), "{children:?}");
    });
}

/// Calls begin while a person pauses: each has begun before the pause and keeps its place, so that
/// the next entry joins it, or it never does.
#[test]
fn no_call_slips_past_a_pause() {
    let rounds: u32 = setting("CRASH_ROUNDS").unwrap_or(12);
    for round in 0..rounds {
        on_threads(async |store| {
            let id = create_trip(&store, 2..34).await;
            let calls = store.children(id).await.unwrap();
            let (other, mut begun) = (store.clone(), calls.clone());
            if round % 2 == 0 {
                // The move reads the last ones after the others.
                begun.reverse();
            }
            let begins = tokio::spawn(async move {
                for call in begun.iter().step_by(2) {
                    let AnyExecution::Pending(call) = other.load(call.id).await.unwrap() else {
                        // The pause was first.
                        continue;
                    };
                    // The pause may come now.
                    let call = Planned::<Charge>::of(call).unwrap();
                    drop(other.begin(call, tool_node()).await);
                }
            });
            for _ in 0..round % 7 {
                tokio::task::yield_now().await;
            }
            pauses(&store, id).await;
            begins.await.unwrap();
            let all = committed(&store).await;
            let paused = place_of(&all, id, |_, to| to == "paused").unwrap();
            for call in calls {
                let begun = place_of(&all, call.id, |from, _| from == "pending");
                let ended = place_of(&all, call.id, |_, to| to == "cancelled");
                let in_time = begun.is_some_and(|begun| begun < paused && ended.is_none());
                assert!(
                    in_time || ended.is_some(),
                    "round {round}: {call:?}: {begun:?} {ended:?}, paused at {paused}"
                );
            }
            for call in store.children(id).await.unwrap() {
                assert!(call.position.is_some() || call.status == "cancelled", "{call:?}");
            }
        });
    }
}
