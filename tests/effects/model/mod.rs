//! Random histories of several keys, against a model of the rules.
//!
//! The model is written from the design, in terms of what happened to the outside world and what
//! people and the store know of it. It knows nothing of journals, entries or folds.

mod act;
mod call;
mod check;
mod ends;
mod evidence;
mod explored;
mod gates;
mod possible;
mod reference;
mod rules;
mod step;
mod system;

use proptest::test_runner::{Config, RngSeed, TestRunner};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};

use reference::{Model, OnMemory, OnSqlite};
use step::Step;
use system::System;

/// A few cases, or as many as `PROPTEST_CASES` says. Prints the seed.
fn config(test: &str, cases: u32) -> Config {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    if config.rng_seed == RngSeed::Random {
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
        config.rng_seed = RngSeed::Fixed(u64::from(now.subsec_nanos()) ^ now.as_secs() << 20);
    }
    eprintln!("{test}: PROPTEST_RNG_SEED={} PROPTEST_CASES={}", config.rng_seed, config.cases);
    config
}

fn compare<R>(test: &str, cases: u32)
where
    R: ReferenceStateMachine<State = Model, Transition = Step>,
    System<R>: StateMachineTest<Reference = R>,
{
    let config = config(test, cases);
    let mut runner = TestRunner::new(config.clone());
    let histories = R::sequential_strategy(1..80);
    let result = runner.run(&histories, |(model, steps, seen)| {
        System::<R>::test_sequential(config.clone(), model, steps, seen);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

#[test]
fn a_store_in_memory_keeps_the_rules() {
    compare::<OnMemory>("effects, memory", 48);
}

#[test]
fn several_processes_on_a_file_keep_the_rules() {
    compare::<OnSqlite>("effects, SQLite", 12);
}
