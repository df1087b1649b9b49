//! The typed path, the erased path and a model agree, on a store in memory and on a SQLite file.

mod compare;
mod event;
mod reference;
mod state;
mod systems;

use proptest::test_runner::Config;
use proptest_state_machine::prop_state_machine;

use systems::Systems;

/// A few cases, or as many as `PROPTEST_CASES` says.
fn config() -> Config {
    let config = Config { failure_persistence: None, ..Config::default() };
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => config,
        None => Config { cases: 16, ..config },
    }
}

prop_state_machine! {
    #![proptest_config(config())]

    #[test]
    fn every_path_and_every_store_agrees_with_the_model(sequential 1..40 => Systems);
}
