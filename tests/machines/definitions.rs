//! Rules for the definition of every machine in this folder, and of those in the library.

use std::collections::BTreeSet;

use machine::{contract::execution, definition::Definition};
use machine_tests::samples::{lease, ticket};

use crate::definition::{order, xml};
use crate::machines::{orchestrator, raft, turn, workflow};

const ALL: [&Definition; 8] = [
    execution::DEFINITION,
    lease::DEFINITION,
    ticket::DEFINITION,
    order::DEFINITION,
    orchestrator::DEFINITION,
    raft::DEFINITION,
    turn::DEFINITION,
    workflow::DEFINITION,
];

#[test]
fn every_definition_comes_back_from_json_as_it_was() {
    for definition in ALL {
        let text = serde_json::to_string(definition).unwrap();
        let owned: Definition = serde_json::from_str(&text).unwrap();
        assert_eq!(&owned, definition);
        assert_eq!(serde_json::to_string(&owned).unwrap(), text);
        let pretty = serde_json::to_string_pretty(definition).unwrap();
        assert_eq!(serde_json::from_str::<Definition>(&pretty).unwrap(), owned);
        let value = serde_json::to_value(definition).unwrap();
        assert_eq!(serde_json::from_value::<Definition>(value).unwrap(), owned);
        // Equality is by content; these are what it could miss.
        assert_eq!(owned.groups, definition.groups, "{}", definition.name);
        assert_eq!(owned.actors, definition.actors, "{}", definition.name);
        assert_eq!(owned.fingerprint, definition.fingerprint, "{}", definition.name);
        assert_eq!(owned.compare(definition).to_string(), "no change");
        assert_eq!(owned.mermaid(), definition.mermaid());
        assert_eq!(owned.svg(), definition.svg());
        for state in 0..definition.states.len() {
            let sentence = owned.legal_moves(state).to_string();
            assert_eq!(sentence, definition.legal_moves(state).to_string());
        }
    }
    // The round trip means something: among them are groups, choices, deadlines and actors.
    let has = |part: fn(&Definition) -> bool| ALL.iter().filter(|one| part(one)).count();
    assert!(has(|one| !one.groups.is_empty()) >= 4);
    assert!(has(|one| one.edges.iter().any(|edge| edge.when.is_some())) >= 4);
    assert!(has(|one| one.edges.iter().any(|edge| edge.deadline.is_some())) >= 4);
    assert!(has(|one| !one.actors.is_empty()) >= 4);
}

#[test]
fn every_machine_differs_from_every_other() {
    let fingerprints: BTreeSet<_> = ALL.iter().map(|one| one.fingerprint).collect();
    assert_eq!(fingerprints.len(), ALL.len());
    for (index, one) in ALL.into_iter().enumerate() {
        for other in &ALL[index + 1..] {
            let text = format!("`{}` and `{}` are different machines", other.name, one.name);
            assert_eq!(one.compare(other).to_string(), text);
        }
    }
}

/// Every actor that an edge names has a row, and every row is named by an edge.
#[test]
fn actors_and_edges_agree() {
    for definition in ALL {
        let named: BTreeSet<_> =
            definition.edges.iter().flat_map(|edge| edge.actors.iter()).collect();
        let rows: BTreeSet<_> = definition.actors.iter().map(|actor| &actor.kind).collect();
        assert_eq!(named, rows, "{}", definition.name);
        assert_eq!(rows.len(), definition.actors.len(), "{}", definition.name);
    }
}

#[test]
fn every_drawing_is_well_formed_and_complete() {
    for definition in ALL {
        let mut shown = xml::texts(&definition.svg()).unwrap();
        let states = definition.states.iter().map(|state| state.label.to_string());
        let edges = definition.edges.iter().map(|edge| edge.label().to_string());
        let mut expected: Vec<String> = states.chain(edges).collect();
        shown.sort();
        expected.sort();
        assert_eq!(shown, expected, "{}", definition.name);

        let mermaid = definition.mermaid();
        let ends = definition.states.iter().filter(|state| state.terminal).count();
        assert_eq!(mermaid.lines().count(), 2 + definition.edges.len() + ends, "{mermaid}");
    }
}
