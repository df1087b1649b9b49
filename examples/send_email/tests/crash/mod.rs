//! People decide about several mails at once, and workers send them, in processes that are killed,
//! frozen and thawed at random moments.

mod desk;
mod disturbance;
mod office;
mod people;
mod random;
mod workers;

use std::{
    env,
    sync::{Arc, atomic::Ordering},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use self::{desk::Desk, office::Figures, people::People, random::Random};
use crate::world::World;

/// The number of mails that share a database and a server.
const MAILS: u64 = 6;

/// The number of workers at a time.
const WORKERS: u64 = 2;

/// `CRASH_ROUNDS` mails (default 18), with the random seed `CRASH_SEED`.
///
/// A round is the life of one mail: people approve, decline, withdraw, retry, fence, cancel and settle
/// it, some of them at the same time, while workers send it and others. All these processes are killed,
/// or frozen and thawed or killed later. People do what there is to do, and tell what they find in the
/// mailbox; now and then one of them frees a key by name, without a look. It ends when nothing is left
/// to do.
///
/// At most one mail per key arrives, and one more for each time that a person freed it by name; reported ends
/// stay as reported; nothing gets stuck; every history verifies, and no lock file is left.
#[test]
#[allow(clippy::print_stdout, reason = "the seed must be known when it fails")]
fn killed_and_frozen_at_random_moments() {
    let rounds = number("CRASH_ROUNDS", 18);
    let seed = number("CRASH_SEED", 0x2545_f491_4f6c_dd1d);
    let times = measure();
    println!("{rounds} rounds from seed {seed}; an approval and a mail take {times:?}");
    let figures = Arc::new(Figures::default());
    for first in (0..rounds).step_by(usize::try_from(MAILS).unwrap()) {
        let desk = Arc::new(Desk::new(Arc::clone(&figures), times));
        let random = |number: u64| Random(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let workers: Vec<_> = (0..WORKERS)
            .map(|number| {
                let (desk, random) = (Arc::clone(&desk), random(!(first + number)));
                thread::spawn(move || workers::work(&desk, random))
            })
            .collect();
        let mails: Vec<_> = (first..rounds.min(first + MAILS))
            .map(|round| {
                let people = People::new(Arc::clone(&desk), round, random(round));
                thread::spawn(move || people.work())
            })
            .collect();
        let mut ended: Vec<_> = mails.into_iter().map(JoinHandle::join).collect();
        desk.is_done.store(true, Ordering::SeqCst);
        ended.extend(workers.into_iter().map(JoinHandle::join));
        assert!(ended.iter().all(Result::is_ok), "rounds from {first} of seed {seed}");
        desk.check();
    }
    println!("{figures:#?}");
}

/// Measures the duration of an approval, and of sending a mail, without disturbances, at their best.
fn measure() -> (Duration, Duration) {
    let world = World::new();
    let timed = |command: &str| {
        let start = Instant::now();
        world.ok(command);
        start.elapsed()
    };
    let runs = (0..5).map(|number| {
        let (gate, _) = world.ask_for(&format!("--to measure-{number}@example.com"));
        (timed(&format!("approve --yes {gate} --as ann")), timed("work --once"))
    });
    let (decisions, work): (Vec<_>, Vec<_>) = runs.unzip();
    (decisions.into_iter().min().unwrap(), work.into_iter().min().unwrap())
}

fn number(variable: &str, usual: u64) -> u64 {
    match env::var(variable) {
        Ok(text) => {
            text.parse().unwrap_or_else(|_| panic!("{variable} is `{text}`, which is not a number"))
        }
        Err(_) => usual,
    }
}
