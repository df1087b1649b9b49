use std::{collections::BTreeSet, sync::Arc};

use stateright::{Checker, HasDiscoveries, Model};

use super::{
    defect::{Defect, Protocol},
    properties,
    scenario::{
        Budget, Planned, REACHED, Scenario,
        Wanted::{Denied, Execution, Last, Other, Outside, Person},
    },
};

/// Makes the test take minutes: more calls, workers that are lost, more stops.
const LONG: &str = "AGENT_MODEL_LONG";

const ONE: Planned = Planned { agent: 1, output: 1, calls: &[], at_once: false, has_limit: false };
const THREE: Planned = Planned { calls: &[Execution, Execution, Outside], ..ONE };
const DELEGATES: Planned = Planned { calls: &[Other(3), Execution, Outside], ..ONE };
const HELPER: Planned = Planned { agent: 0, output: 2, ..ONE };

fn scenarios(is_long: bool) -> Vec<Scenario> {
    let none = Budget::default();
    let scenario = |name, turns, budget| Scenario {
        name,
        protocol: Protocol(None),
        turns,
        budget,
        reached: Arc::default(),
    };
    let mut all = vec![
        scenario("three calls", &[THREE], Budget { takeovers: 1, crashes: 1, stops: 1, ticks: 1 }),
        scenario(
            "limit",
            &[Planned { has_limit: true, calls: &[Execution, Denied, Last], ..ONE }],
            Budget { takeovers: 1, stops: 1, ticks: 1, ..none },
        ),
        scenario(
            "a person",
            &[Planned { calls: &[Person, Execution], ..ONE }],
            Budget { stops: 1, ticks: 1, ..none },
        ),
        scenario("denied", &[Planned { calls: &[Denied, Denied], ..ONE }], none),
        scenario(
            "delegation",
            &[Planned { calls: &[Other(3), Execution], ..ONE }],
            Budget { stops: 1, ticks: 1, ..none },
        ),
        scenario(
            "delegation both ways",
            &[Planned { calls: &[Other(3)], ..ONE }, Planned { calls: &[Other(4)], ..HELPER }],
            Budget { ticks: 1, ..none },
        ),
        scenario(
            "queue",
            &[ONE, ONE, Planned { output: 1, ..HELPER }, Planned { at_once: true, ..HELPER }],
            Budget { stops: 1, ..none },
        ),
    ];
    if is_long {
        let every = Budget { takeovers: 2, crashes: 1, stops: 2, ticks: 1 };
        all.extend([
            scenario("three calls, accidents", &[THREE], every),
            scenario("delegation, accidents", &[DELEGATES], Budget { takeovers: 1, ..every }),
            scenario("two helpers", &[DELEGATES, HELPER], Budget { stops: 1, ticks: 1, ..none }),
        ]);
    }
    all
}

#[test]
fn the_protocol_keeps_its_promises_in_every_order() {
    let (mut states, mut reached) = (0, BTreeSet::new());
    for scenario in scenarios(std::env::var_os(LONG).is_some()) {
        let name = scenario.name;
        let any = HasDiscoveries::AnyFailures;
        let checker = scenario.checker().finish_when(any).threads(2).spawn_bfs().join();
        if let Some((property, path)) = checker.discoveries().into_iter().next() {
            let (last, acts) = (path.last_state().clone(), path.into_actions());
            panic!("{name}: not so: {property}\n{acts:?}\n{last:#?}");
        }
        eprintln!("{name}: {} states", checker.unique_state_count());
        states += checker.unique_state_count();
        reached.extend(checker.model().reached.lock().unwrap().iter().copied());
    }
    let missing: Vec<_> = REACHED.into_iter().filter(|it| !reached.contains(it)).collect();
    assert!(missing.is_empty(), "in {states} states, these never happen: {missing:?}");
    assert!(states > 30_000, "{states} states are too few to mean anything");
}

/// Each defect, the scenario that must show it, and the promise that it breaks.
const TWINS: [(Defect, &str, &str); 23] = [
    (Defect::DeliversUnderOldEpoch, "three calls", properties::EPOCHS),
    (Defect::ReportsUnderOldEpoch, "three calls", properties::EPOCHS),
    (Defect::StopsWithoutDeliverable, "three calls", properties::ONE_ANSWER),
    (Defect::EventApart, "three calls", properties::ONE_ANSWER),
    (Defect::ReclaimsWithoutRaise, "three calls", properties::EPOCHS),
    (Defect::LateReopens, "three calls", properties::ONE_RESULT),
    (Defect::ResultStays, "three calls", properties::ONE_RESULT),
    (Defect::StopDropsCalls, "three calls", properties::ONE_RESULT),
    (Defect::LastDoesNotRun, "three calls", properties::ENDS),
    (Defect::SetApart, "three calls", properties::ONE_RESULT),
    (Defect::DeadlineFrees, "three calls", properties::ONE_RESULT),
    (Defect::AsksAgain, "three calls", properties::BOUGHT_ONCE),
    (Defect::DispatchesWhenBusy, "queue", properties::ONE_ACTIVE),
    (Defect::SharesBox, "queue", properties::ONE_WRITER),
    (Defect::WaitsWithoutDeadline, "delegation both ways", properties::ENDS),
    (Defect::StopDropsQueued, "queue", properties::ONE_ANSWER),
    (Defect::ForgetsUnmade, "three calls", properties::ONE_RESULT),
    (Defect::StopLost, "three calls", properties::STOPS),
    (Defect::StopKeepsChildren, "delegation", properties::CHILDREN),
    (Defect::DispatchesWithoutRaise, "queue", properties::RAISED),
    (Defect::WritesCallTwice, "three calls", properties::ONE_RESULT),
    (Defect::AnswersNoCall, "three calls", properties::ONE_RESULT),
    (Defect::NamesOtherCard, "three calls", properties::DELIVERED),
];

#[test]
fn the_checker_finds_what_is_wrong_with_each_twin() {
    let scenarios = scenarios(false);
    for (defect, name, promise) in TWINS {
        let scenario = scenarios.iter().find(|scenario| scenario.name == name).unwrap();
        let broken = Scenario { protocol: Protocol(Some(defect)), ..scenario.clone() };
        let found = HasDiscoveries::AnyOf([promise].into());
        let checker = broken.checker().finish_when(found).spawn_bfs().join();
        let path = checker.discovery(promise);
        let path = path.unwrap_or_else(|| panic!("{defect:?} keeps: {promise}"));
        eprintln!("{defect:?}, {name}, not so: {promise}\n    {:?}", path.into_actions());
    }
}
