use std::{collections::BTreeMap, time::Duration};

use machine_tests::random::{Random, setting};

use super::{
    model::{Figures, Model},
    said::{Orders, Said},
};
use crate::{
    process::Process,
    support::{block_on, closes_intact, new_file, options},
};

/// Where the child may kill itself.
const POINTS: [&str; 12] = [
    "store-begin",
    "store-begun",
    "store-checked",
    "store-write",
    "store-write",
    "store-line",
    "store-commit",
    "store-committed",
    "store-checkpoint",
    "store-checkpointed",
    "store-close",
    "store-closed",
];

/// The number of rounds that use the same file.
const ROUNDS_PER_FILE: usize = 10;

/// The number of operations of each worker of a child, if it lives so long.
const OPERATIONS: usize = 40;

/// Acknowledged operations are in the file, and each of the rest completely or not at all.
#[test]
fn a_killed_process_loses_nothing_and_leaves_no_half() {
    let rounds: usize = setting("MACHINE_CRASH_ROUNDS").unwrap_or(24);
    let mut random = Random::of("crash");
    let mut all = Figures::default();
    let (mut killed, mut ended) = (0, 0);
    let mut at_points: BTreeMap<String, usize> = BTreeMap::new();
    let mut left = rounds;
    while left > 0 {
        let (folder, file) = new_file();
        let mut model = Model::default();
        let here = left.min(ROUNDS_PER_FILE);
        for round in 0..here {
            let at_point = random.percent(50);
            let point = at_point.then(|| point(&mut random));
            let orders = Orders {
                file: file.clone(),
                seed: random.number(),
                workers: 1 + random.below(4),
                operations: OPERATIONS,
                padding: if random.percent(10) { 30_000 } else { 0 },
                point: point.clone(),
            };
            // The name of a round in a failure.
            let name = format!("{left} left, {round}: {orders:?}");
            let context = Context(name);
            match run(&orders, &mut model, &mut random) {
                Some(9) => match point {
                    Some((point, _)) => *at_points.entry(point).or_default() += 1,
                    None => killed += 1,
                },
                None => ended += 1,
                signal => panic!("signal {signal:?}"),
            }
            block_on(check(&orders, &mut model, &mut random, round + 1 == here));
            std::mem::forget(context);
        }
        all += model.figures;
        left -= here;
        drop(folder);
    }
    eprintln!(
        "{rounds} rounds: {killed} killed at random, {ended} ended, killed at fail points {at_points:?}; \
         {all:?}"
    );
}

/// Reports the round if the test fails.
struct Context(String);

impl Drop for Context {
    fn drop(&mut self) {
        eprintln!("in the round: {}", self.0);
    }
}

fn point(random: &mut Random) -> (String, usize) {
    let name = *random.pick(&POINTS);
    let before = match name {
        // Closing is rare.
        "store-close" | "store-closed" => random.below(3),
        "store-checkpoint" | "store-checkpointed" => random.below(4),
        _ => random.below(60),
    };
    (name.to_owned(), before)
}

/// Runs a child until it is killed, and returns the signal that killed it.
fn run(orders: &Orders, model: &mut Model, random: &mut Random) -> Option<i32> {
    let mut child = Process::start("crash::child::works", orders);
    let kill_after = orders.point.is_none().then(|| random.below(2 * OPERATIONS * orders.workers));
    if kill_after.is_some() && random.percent(15) {
        // While it opens the file, which may be new.
        std::thread::sleep(Duration::from_micros(random.number() % 30_000));
        child.cut_short();
    }
    let mut heard = 0;
    let mut complete = false;
    while let Some(said) = child.hear_until_end::<Said>() {
        complete = matches!(said, Said::End);
        model.hear(said);
        if kill_after == Some(heard) {
            std::thread::sleep(Duration::from_micros(random.number() % 4000));
            child.cut_short();
        }
        heard += 1;
    }
    let status = child.ended();
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    assert!(signal.is_some() || complete && status.success(), "the child failed: {status}");
    signal
}

/// The file has what the model says.
async fn check(orders: &Orders, model: &mut Model, random: &mut Random, last: bool) {
    let store = options().sqlite(&orders.file).await.unwrap();
    model.compare(&store).await;
    if last || random.percent(60) {
        // No process is alive, so that everything without an answer is in doubt.
        let recovered = store.recover().await.unwrap();
        assert!(recovered.failed.is_empty(), "{:?}", recovered.failed);
        assert!(recovered.settled.is_empty() && recovered.interrupted.is_empty(), "{recovered:?}");
        let found: Vec<_> = recovered.in_doubt.iter().map(|doubt| doubt.id()).collect();
        assert_eq!(
            found.iter().copied().collect::<std::collections::BTreeSet<_>>(),
            model.unanswered()
        );
        model.parked(&found);
        model.compare(&store).await;
    }
    if last {
        model.compare_everything(&store).await;
    }
    closes_intact(&store, &orders.file).await;
}

impl std::ops::AddAssign for Figures {
    fn add_assign(&mut self, other: Self) {
        self.acknowledged += other.acknowledged;
        self.refused += other.refused;
        self.written += other.written;
        self.unwritten += other.unwritten;
        self.parked += other.parked;
        self.entries += other.entries;
    }
}
