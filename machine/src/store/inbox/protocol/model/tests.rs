use std::collections::BTreeSet;

use stateright::{Checker, HasDiscoveries, Model};

use super::{
    crowd::Crowd,
    defect::{Defect, Protocol},
    properties,
    world::Budget,
};

/// Rivals for one machine, and what may go wrong there.
fn crowd([workers, messages]: [usize; 2], budget: Budget) -> Crowd {
    Crowd { protocol: Protocol(None), workers, messages, due_at: None, budget }
}

/// One crowd would have too many states; these have what belongs together.
fn crowds() -> [(&'static str, Crowd); 7] {
    let rivals = Budget { claims: 3, crashes: 1, outsiders: 1, ..Budget::default() };
    let failures = Budget { claims: 4, crashes: 3, failures: 2, requeues: 1, ..Budget::default() };
    let refusals = Budget { claims: 4, crashes: 3, refusals: 3, ..Budget::default() };
    let others = Budget { claims: 4, crashes: 1, failures: 2, others: 2, ..Budget::default() };
    let deadline =
        Budget { claims: 4, crashes: 2, failures: 2, hand_backs: 1, ..Budget::default() };
    [
        ("rivals", crowd([2, 1], rivals)),
        ("two messages", crowd([2, 2], Budget { claims: 3, ..Budget::default() })),
        ("three rivals", crowd([3, 1], Budget { claims: 3, crashes: 1, ..Budget::default() })),
        ("failures", crowd([1, 1], failures)),
        ("refusals", crowd([1, 1], refusals)),
        ("others", crowd([1, 1], others)),
        ("deadline", Crowd { due_at: Some(1), ..crowd([1, 1], deadline) }),
    ]
}

#[test]
fn the_protocol_keeps_its_promises_in_every_order() {
    let mut states = 0;
    let mut happened = BTreeSet::new();
    let promises: BTreeSet<_> = properties::all().iter().map(|property| property.name).collect();
    for (which, crowd) in crowds() {
        let checker = crowd.checker().threads(2).spawn_bfs().join();
        for (name, path) in checker.discoveries() {
            let (last, actions) = (path.last_state().clone(), path.into_actions());
            assert!(!promises.contains(name), "{which}: not so: {name}\n{actions:?}\n{last:#?}");
            happened.insert(name);
        }
        states += checker.unique_state_count();
    }
    let possible = properties::possible();
    let missing: Vec<_> = possible.iter().filter(|it| !happened.contains(it.name)).collect();
    let missing: Vec<_> = missing.iter().map(|property| property.name).collect();
    assert!(missing.is_empty(), "in {states} states, these never happen: {missing:?}");
    assert!(states > 50_000, "{states} states are too few to mean anything");
}

/// Each defect, the crowd that must show it, and the promise that it breaks.
const TWINS: [(Defect, &str, &str); 20] = [
    (Defect::ChecksNoToken, "rivals", properties::NEWEST_TOKEN),
    (Defect::ChecksNoToken, "rivals", properties::ONE_WRITER),
    (Defect::KeepsTokenAtClaim, "rivals", properties::TOKENS_RISE),
    (Defect::KeepsTokenAtClaim, "rivals", properties::ONE_WRITER),
    (Defect::AcknowledgesAtClaim, "rivals", properties::WITH_COMMIT),
    (Defect::ParksIgnoringNews, "rivals", properties::AWAKE),
    (Defect::FailsIgnoringNews, "failures", properties::AWAKE),
    (Defect::SendsWithoutWaking, "rivals", properties::AWAKE),
    (Defect::CountsAfterwards, "failures", properties::COUNTED),
    (Defect::CountsAfterwards, "failures", properties::POISON),
    (Defect::ForgivesAtTurn, "refusals", properties::POISON),
    (Defect::ForgivesAtTakeover, "failures", properties::POISON),
    (Defect::DropsPoison, "failures", properties::WITH_COMMIT),
    (Defect::GivesUpEarly, "failures", properties::PATIENCE),
    (Defect::RequeuesHandled, "failures", properties::WITH_COMMIT),
    (Defect::EndsWithQueue, "deadline", properties::KEPT),
    (Defect::NeverReclaims, "rivals", properties::RECOVERS),
    (Defect::SuppressesOthers, "others", properties::NOT_SUPPRESSED),
    (Defect::ReplacesAll, "others", properties::NOT_DISPLACED),
    (Defect::ReplacesAll, "others", properties::WITH_COMMIT),
];
#[test]
fn the_checker_finds_what_is_wrong_with_each_twin() {
    for (defect, which, promise) in TWINS {
        let crowds = crowds().into_iter();
        let crowd = crowds.filter(|(name, _)| *name == which).map(|(_, crowd)| crowd);
        for crowd in crowd {
            let broken = Crowd { protocol: Protocol(Some(defect)), ..crowd };
            let found = HasDiscoveries::AnyOf([promise].into());
            let checker = broken.checker().finish_when(found).spawn_bfs().join();
            assert!(checker.discovery(promise).is_some(), "{defect:?} keeps {promise}");
        }
    }
}
