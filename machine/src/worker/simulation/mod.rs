//! A seeded simulation of workers: 4 of them drive machines of one store in virtual time, while
//! they crash, freeze, all stop at once, lose answers and rings, and while messages come early,
//! late, twice or never, and people pause machines whose calls are under way.
//!
//! `MACHINE_SCHEDULES=100000` sets the number of schedules, `MACHINE_SEED=7` runs one of them.

mod backend;
mod checks;
mod defects;
mod ledger;
mod machines;
mod mail;
mod payments;
mod process;
mod shared;
mod time;
mod tours;
mod visits;
mod world;

use std::{
    collections::BTreeMap,
    panic::resume_unwind,
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

use defects::Defect;
use ledger::Ledger;
use world::run;

/// The number of schedules that run by default.
const SCHEDULES: u64 = 150;

/// Until then, each broken twin must have failed.
const CAUGHT_WITHIN: u64 = 200;

fn number_of(variable: &str) -> Option<u64> {
    let text = std::env::var_os(variable)?;
    let text = text.to_string_lossy();
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is `{text}`, which is not a number")))
}

/// Panics with the trace if something was wrong.
fn check(seed: u64, ledger: &Ledger) {
    let violations = &ledger.violations;
    if violations.is_empty() {
        return;
    }
    // Once more, for the trace.
    let trace = run(seed, None, true).trace;
    panic!(
        "{}\n\nseed {seed}: {violations:#?}\n\nto replay it: MACHINE_SEED={seed} cargo test --package machine \
         --all-features --lib simulation",
        trace.join("\n")
    );
}

type Counts = BTreeMap<&'static str, usize>;

fn add(all: &mut Counts, counts: Counts) {
    for (what, count) in counts {
        *all.entry(what).or_default() += count;
    }
}

/// Runs the schedules with the seeds below this number, until one fails.
fn run_all(schedules: u64) -> Counts {
    let next = AtomicU64::new(0);
    let one_after_another = || {
        let mut counts = Counts::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= schedules {
                return counts;
            }
            let ledger = run(seed, None, false);
            if !ledger.violations.is_empty() {
                next.store(schedules, Ordering::Relaxed);
            }
            check(seed, &ledger);
            add(&mut counts, ledger.counts);
        }
    };
    thread::scope(|scope| {
        let threads = [scope.spawn(one_after_another), scope.spawn(one_after_another)];
        let mut all = Counts::new();
        for thread in threads {
            add(&mut all, thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        all
    })
}

#[test]
fn every_machine_comes_to_its_end_whatever_happens_to_the_workers() {
    if let Some(seed) = number_of("MACHINE_SEED") {
        check(seed, &run(seed, None, false));
        return;
    }
    let counts = run_all(number_of("MACHINE_SCHEDULES").unwrap_or(SCHEDULES));
    eprintln!("{counts:#?}");
    // A simulation in which nothing goes wrong shows nothing.
    for what in [
        shared::WENT_BACK,
        "calls and questions withdrawn",
        "calls that ended with their visit",
        "calls that were joined",
        "commits that were recognized",
        "conflicts",
        "crashes",
        "deadlines",
        "duplicates",
        "failures",
        "freezes",
        "leases that moved",
        "legs that were cancelled",
        "denials of what may be running",
        "denials that counted",
        "messages handled",
        "payments",
        "payments after the process",
        "payments declined",
        "payments retried",
        "receipts left by a pause",
        "requeued",
        "states handed back",
        "stops",
        "times without a worker",
        "transitions refused",
        "trips that joined their legs",
        "turns",
    ] {
        assert!(counts.contains_key(what), "this never happened: {what}");
    }
}

#[test]
fn the_same_seed_makes_the_same_schedule() {
    for seed in 0..3 {
        let (one, other) = (run(seed, None, true).trace, run(seed, None, true).trace);
        assert!(one.len() > 20);
        let difference = one.iter().zip(&other).find(|(one, other)| one != other);
        assert_eq!(difference, None, "seed {seed}");
        assert_eq!(one.len(), other.len());
    }
}

fn is_caught(defect: Defect, by: &str) {
    let caught = (0..CAUGHT_WITHIN).find_map(|seed| {
        let violations = run(seed, Some(defect), false).violations;
        let is_caught = violations.iter().any(|violation| violation.contains(by));
        is_caught.then_some((seed, violations))
    });
    assert!(caught.is_some(), "{defect:?} was not caught by {CAUGHT_WITHIN} schedules");
    eprintln!("{defect:?}: {caught:#?}");
}

/// Each defect, and what must be found because of it.
const DEFECTS: [(Defect, &str); 13] = [
    (Defect::NoTokenCheck, "with token"),
    (Defect::RescueByTime, "with token"),
    (Defect::AcknowledgesEarly, "and its history has"),
    (Defect::ForgetsRevision, "is not at its end"),
    (Defect::ForgetsCorrelation, "twice"),
    (Defect::DeadlineFirst, "was in time"),
    // The effect of a call comes after its future, and the service says that it cannot.
    (Defect::ClaimsConfined, "was paid 2 times"),
    (Defect::ForgetsTaken, "took the outcome of one call again"),
    (Defect::NeverJoins, "has not taken its receipt"),
    (Defect::JoinsAsleep, "sleeps, and its state takes"),
    (Defect::TakesOldOutcome, "took the outcome of another visit"),
    (Defect::BeginsFirst, "before a due deadline"),
    (Defect::LeavesCalls, "after its state was left"),
];

#[test]
fn every_defect_is_caught() {
    thread::scope(|scope| {
        for (defect, by) in DEFECTS {
            scope.spawn(move || is_caught(defect, by));
        }
    });
}
