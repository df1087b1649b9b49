//! People decide about several mails at once, in processes that are killed, frozen and thawed at
//! random moments.

mod desk;
mod disturbance;
mod office;
mod people;
mod random;

use std::{
    env,
    sync::Arc,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use self::{desk::Desk, office::Figures, people::People, random::Random};
use crate::world::World;
/// How many mails share a database and a server.
const MAILS: u64 = 6;

/// `CRASH_ROUNDS` mails (default 18), with the random seed `CRASH_SEED`.
///
/// A round is the life of one mail: people approve, decline, withdraw, retry, fence and settle it, some
/// of them at the same time, and their processes are killed, or frozen and thawed or killed later. They
/// do what `status` says, and tell what they find in the mailbox; now and then one of them frees a key
/// by name, without a look. It ends when nothing is left to do.
///
/// At most one mail per key arrives, and one more for each time that somebody freed it by name; what was
/// reported as ended stays as reported; nothing gets stuck; every history verifies, and no lock file is
/// left.
#[test]
#[allow(clippy::print_stdout, reason = "the seed must be known when it fails")]
fn killed_and_frozen_at_random_moments() {
    let rounds = number("CRASH_ROUNDS", 18);
    let seed = number("CRASH_SEED", 0x2545_f491_4f6c_dd1d);
    let whole_run = measure();
    println!("{rounds} rounds from seed {seed}; an approval takes {whole_run:?}");
    let figures = Arc::new(Figures::default());
    for first in (0..rounds).step_by(usize::try_from(MAILS).unwrap()) {
        let desk = Arc::new(Desk::new(Arc::clone(&figures), whole_run));
        let mails: Vec<_> = (first..rounds.min(first + MAILS))
            .map(|round| {
                let random = Random(seed ^ round.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
                let people = People::new(Arc::clone(&desk), round, random);
                thread::spawn(move || people.work())
            })
            .collect();
        let ended: Vec<_> = mails.into_iter().map(JoinHandle::join).collect();
        assert!(ended.iter().all(Result::is_ok), "rounds from {first} of seed {seed}");
        desk.check();
    }
    println!("{figures:#?}");
}

/// The duration of an approval that nobody disturbs, at its best.
fn measure() -> Duration {
    let world = World::new();
    let runs = (0..5).map(|number| {
        let (gate, _) = world.ask_for(&format!("--to measure-{number}@example.com"));
        let start = Instant::now();
        world.ok(&format!("approve --yes {gate} --as ann"));
        start.elapsed()
    });
    runs.min().unwrap()
}

fn number(variable: &str, usual: u64) -> u64 {
    match env::var(variable) {
        Ok(text) => {
            text.parse().unwrap_or_else(|_| panic!("{variable} is `{text}`, which is not a number"))
        }
        Err(_) => usual,
    }
}
