//! Four workers drive many machines of several states, and one after the other is killed or frozen.
//!
//! `MACHINE_WORKERS_MACHINES=500` sets the number of machines, and `TEST_SEED` repeats the choices
//! of a run; what the workers do at the same time is not repeated.

mod check;
mod crew;
mod errands;
mod trips;

use std::time::{Duration, Instant};

use machine::{
    contract::AnyExecution,
    store::{Message, OpenOptions, SendError, Sent, Store},
};
use machine_tests::{
    actors::ann,
    random::{Random, setting},
};

use self::{
    errands::Lines,
    trips::{AnyTrip, Terms, Trip, trip},
};
use super::process::Crew;

/// The number of workers at any time.
const WORKERS: usize = 4;

/// A test that takes longer than this is stuck.
const STUCK: Duration = Duration::from_mins(5);

fn machines() -> u32 {
    setting("MACHINE_WORKERS_MACHINES").unwrap_or(60)
}

/// The messages to a trip, from outside: one confirmation, some of them twice, and some trips get
/// another one that disagrees.
fn messages(number: u32, random: &mut Random) -> Vec<Message> {
    let confirm = |name: &str, amount| {
        let message = Message::new(&trip::Event::Confirm { amount }, ann()).unwrap();
        message.with_correlation(format!("{name} {number}")).unwrap()
    };
    let first = confirm("confirm", 100 + number);
    match random.below(4) {
        0 => vec![first.clone(), first],
        1 => vec![first, confirm("another", 900 + number)],
        _ => vec![first],
    }
}

/// Returns `false` if the message was not sent because a worker has the lock, which may be frozen.
async fn send(store: &Store, id: machine::Id, message: &Message) -> bool {
    match store.send(id, message).await {
        // The second of two that disagree may come too late.
        Ok(Sent::Queued | Sent::Duplicate) | Err(SendError::Ended { .. }) => true,
        Err(SendError::Unavailable(error)) if error.is_busy() => false,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn every_machine_ends_while_workers_are_killed_and_frozen() {
    let mut random = Random::of("killed");
    let folder = tempfile::tempdir().unwrap();
    let lines = Lines::in_folder(folder.path());
    let options = OpenOptions::new().machine::<AnyTrip>().machine::<AnyExecution>();
    // This process must not wait for workers that it has to thaw.
    let options = options.busy_timeout(Duration::from_millis(200));
    let store = options.sqlite(lines.database()).await.unwrap();
    let started = Instant::now();
    let mut trips = Vec::new();
    let mut later = Vec::new();
    for number in 0..machines() {
        let is_hurried = number % 5 == 0;
        let mut trip = Trip::new(Terms { number, is_hurried });
        store.create(&mut trip).await.unwrap();
        trips.push((number, trip.id()));
        if !is_hurried {
            let messages = messages(number, &mut random);
            let all = messages.into_iter().map(|message| (trip.id(), message));
            // Some come long before the machine waits for them.
            if random.percent(33) {
                for (id, message) in all {
                    assert!(send(&store, id, &message).await, "no worker has started");
                }
            } else {
                later.extend(all);
            }
        }
    }

    let (of_crew, mut seeds) = (lines.clone(), Random::new(random.number()));
    let start = move || crew::start(&of_crew, &mut seeds);
    let newest = store.position().await.unwrap();
    let mut crew = Crew::start(WORKERS, newest, Random::new(random.number()), start);
    while check::count(&store).await < trips.len() {
        assert!(started.elapsed() < STUCK, "{}", check::stuck(&store).await);
        for _ in 0..random.below(4) {
            if !later.is_empty() {
                let (id, message) = later.swap_remove(random.below(later.len()));
                if !send(&store, id, &message).await {
                    later.push((id, message));
                }
            }
        }
        crew.disturb(store.position().await.unwrap());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let (time, kills, freezes) = (started.elapsed(), crew.kills, crew.freezes);
    assert!(kills > 0 && freezes > 0, "{kills} kills, {freezes} freezes");
    crew.stop();
    for (id, message) in later {
        assert!(send(&store, id, &message).await, "all workers have ended");
    }
    check::check(&store, &trips, &lines).await;
    eprintln!("{} machines in {time:?}, {kills} kills, {freezes} freezes", trips.len());
}
