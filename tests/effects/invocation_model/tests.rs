use std::collections::BTreeSet;

use stateright::{Checker, Model};

use super::{
    defect::Defect,
    properties,
    scenario::{
        Amount::{Ten, Twenty},
        Budget, Each, Keys, Paused, Scenario,
    },
};

/// Makes the test of the rules take minutes: more entries, more machines, more accidents.
const LONG: &str = "INVOCATION_MODEL_LONG";

/// The longest shortest path to a defect.
const DEPTH: usize = 12;

fn scenarios(is_long: bool) -> Vec<Scenario> {
    let one = Scenario {
        name: "one machine",
        defect: None,
        entries: &[3],
        keys: Keys::One,
        sets: &[&[Ten], &[Twenty]],
        approve: &[false],
        each: Each::Stays,
        within: false,
        paused: Paused::Resumes,
        reads_before: false,
        budget: Budget { crashes: 1, ..Budget::default() },
    };
    let pairs: &[&[_]] = &[&[Ten], &[Ten, Ten], &[Ten, Twenty], &[Twenty, Ten]];
    let sets = Scenario { name: "sets", entries: &[2], sets: pairs, ..one.clone() };
    let keys = Scenario {
        name: "two keys",
        keys: Keys::PerAmount,
        sets: &[&[Ten], &[Ten, Twenty]],
        ..sets.clone()
    };
    let gates = &[false, true];
    let overrides = Budget { crashes: 2, overrides: 1, failures: 0 };
    let doubt = Budget { crashes: 1, ..overrides };
    let failures = Budget { failures: 1, ..one.budget };
    let mut all = vec![
        Scenario { name: "reads", entries: &[2], reads_before: true, ..one.clone() },
        Scenario { name: "failures", entries: &[2], budget: failures, ..one.clone() },
        Scenario { name: "overrides", budget: overrides, ..one.clone() },
        Scenario { name: "gates", entries: &[2], approve: gates, ..one.clone() },
        Scenario { name: "within", within: true, ..one.clone() },
        Scenario { name: "ends by detach", paused: Paused::EndsByDetach, ..one.clone() },
        Scenario { name: "sets that leave", each: Each::Leaves, ..sets.clone() },
        Scenario { name: "two keys that leave", each: Each::Leaves, ..keys.clone() },
        Scenario { name: "idempotent", entries: &[2], keys: Keys::None, ..one.clone() },
        Scenario { name: "two machines", entries: &[2, 1], ..one.clone() },
        Scenario { name: "two doubts", entries: &[1, 1], budget: doubt, ..one.clone() },
        one.clone(),
        sets,
        keys,
    ];
    if is_long {
        let budget = Budget { crashes: 2, overrides: 1, failures: 1 };
        let every =
            Scenario { budget, approve: gates, within: true, reads_before: true, ..one.clone() };
        all.extend([
            Scenario { name: "sets, accidents", entries: &[2], sets: pairs, ..every.clone() },
            Scenario { name: "two machines, accidents", entries: &[1, 1], ..every.clone() },
            Scenario { name: "one machine, accidents", ..every },
            Scenario { name: "two machines, three entries", entries: &[3, 3], ..one },
        ]);
    }
    all
}

#[test]
fn the_rules_hold_in_every_order() {
    let promises: BTreeSet<_> = properties::all().iter().map(|property| property.name).collect();
    let (mut states, mut happened) = (0, BTreeSet::new());
    for scenario in scenarios(std::env::var_os(LONG).is_some()) {
        let name = scenario.name;
        let checker = scenario.checker().threads(2).spawn_bfs().join();
        for (property, path) in checker.discoveries() {
            let (last, acts) = (path.last_state().clone(), path.into_actions());
            assert!(
                !promises.contains(property),
                "{name}: not so: {property}\n{acts:?}\n{last:#?}"
            );
            happened.insert(property);
        }
        eprintln!("{name}: {} states", checker.unique_state_count());
        states += checker.unique_state_count();
    }
    let possible = properties::possible();
    let missing: Vec<_> = possible.iter().filter(|it| !happened.contains(it.name)).collect();
    let missing: Vec<_> = missing.iter().map(|property| property.name).collect();
    assert!(missing.is_empty(), "in {states} states, these never happen: {missing:?}");
    assert!(states > 50_000, "{states} states are too few to mean anything");
}

/// Each defect, the scenario that must show it, and the promise that it breaks.
const TWINS: [(Defect, &str, &str); 22] = [
    (Defect::NoJoin, "one machine", properties::TRUE_NOT),
    (Defect::NoWait, "one machine", properties::TRUE_NOT),
    (Defect::EndsOverDetached, "one machine", properties::TRUE_NOT),
    (Defect::JoinsOtherArguments, "one machine", properties::PROOF),
    (Defect::JoinsEnded, "sets", properties::TRUE_NOT),
    (Defect::WaitsForOtherArguments, "gates", properties::TRUE_NOT),
    (Defect::JoinsTaken, "one machine", properties::TAKEN_ONCE),
    (Defect::JoinsOtherMachine, "two machines", properties::PROOF),
    (Defect::JoinsTwice, "sets", properties::ENDS),
    (Defect::JoinsIdempotent, "idempotent", properties::FRESH),
    (Defect::DoneWithOtherArguments, "one machine", properties::NAMES),
    (Defect::TakesOldOutcome, "one machine", properties::TRUE_NOT),
    (Defect::BindsMessageToEntry, "one machine", properties::ENDS),
    (Defect::StaleIsTaken, "one machine", properties::TRUE_NOT),
    (Defect::StaleIsTaken, "one machine", properties::KEPT),
    (Defect::AcknowledgesAlone, "reads", properties::ENDS),
    (Defect::OverdueIsRefusal, "within", properties::TRUE_NOT),
    (Defect::EachLeavesFreely, "sets that leave", properties::TRUE_NOT),
    (Defect::EachWaits, "two keys that leave", properties::ENDS),
    (Defect::LeavesGateOpen, "gates", properties::GATES),
    (Defect::AsksAgain, "gates", properties::ASKS_ONCE),
    (Defect::IgnoresKey, "two machines", properties::ONCE),
];

#[test]
fn the_checker_finds_what_is_wrong_with_each_twin() {
    let scenarios = scenarios(false);
    for (defect, name, property) in TWINS {
        let scenario = scenarios.iter().find(|scenario| scenario.name == name).unwrap();
        let broken = Scenario { defect: Some(defect), ..scenario.clone() };
        let path = shortest(&broken, property);
        let path = path.unwrap_or_else(|| panic!("{defect:?} keeps: {property}"));
        eprintln!("{defect:?}, {name}, not so: {property}\n    {path}");
    }
}

/// The macro must refuse such a table.
#[test]
fn a_table_that_can_neither_return_nor_let_go_waits_for_ever() {
    let mut scenarios = scenarios(false).into_iter();
    let scenario = scenarios.find(|scenario| scenario.name == "one machine").unwrap();
    let path = shortest(&Scenario { paused: Paused::Ends, ..scenario }, properties::ENDS);
    eprintln!("{}", path.unwrap());
}

/// The shortest way to break a promise.
fn shortest(scenario: &Scenario, property: &'static str) -> Option<String> {
    (1..=DEPTH).find_map(|depth| {
        let checker = scenario.clone().checker().target_max_depth(depth).spawn_bfs().join();
        let path = checker.discovery(property)?;
        Some(format!("{:?}", path.into_actions()))
    })
}
