//! The health of the graph (OB-5): every state reachable, no dead end.

use machine::{contract::execution, definition::Definition};
use machine_tests::samples::ticket;

const MACHINES: [&Definition; 2] = [execution::DEFINITION, ticket::DEFINITION];

fn reachable(definition: &Definition, from: usize) -> Vec<usize> {
    let mut seen = vec![from];
    let mut next = 0;
    while next < seen.len() {
        for edge in definition.leaving(seen[next]) {
            if !seen.contains(&edge.to) {
                seen.push(edge.to);
            }
        }
        next += 1;
    }
    seen
}

/// Every state is reachable from the initial state.
#[test]
fn every_state_is_reachable() {
    for definition in MACHINES {
        let seen = reachable(definition, definition.initial);
        assert_eq!(seen.len(), definition.states.len(), "{}", definition.name);
    }
}

/// A state is either terminal or left by some edge, and a terminal state is reachable from every state.
#[test]
fn there_is_no_dead_end() {
    for definition in MACHINES {
        for (index, state) in definition.states.iter().enumerate() {
            let leaves = definition.leaving(index).count();
            assert_eq!(state.terminal, leaves == 0, "{}", state.name);
            let ends = reachable(definition, index);
            assert!(ends.into_iter().any(|state| definition.states[state].terminal));
        }
    }
}

/// Names are unique, edges are in range, and no two edges share source, trigger and target.
#[test]
fn the_table_is_consistent() {
    for definition in MACHINES {
        for (index, state) in definition.states.iter().enumerate() {
            assert_eq!(definition.state(&state.name), Some(index));
            for edge in definition.leaving(index) {
                assert_eq!(definition.edge(index, &edge.trigger, edge.to), Some(edge));
                assert!(edge.to < definition.states.len());
            }
        }
        assert_eq!(definition.state("nowhere"), None);
    }
}
