//! The table of EX-2, row by row, and the states of EX-1.

use machine::{contract::execution::DEFINITION, definition::Move};

const TABLE: [(&str, &str, &str); 9] = [
    ("pending", "start", "running"),
    ("running", "succeed", "completed"),
    ("running", "fail", "failed"),
    ("running", "reject", "rejected"),
    ("running", "suspend", "waiting"),
    ("running", "cancel", "cancelled"),
    ("waiting", "resume", "running"),
    ("waiting", "cancel", "cancelled"),
    ("waiting", "timeout", "cancelled"),
];

const STATES: [&str; 7] =
    ["pending", "running", "waiting", "completed", "failed", "rejected", "cancelled"];

/// These nine edges and no others.
#[test]
fn the_edges_are_those_of_the_table() {
    let name = |state: usize| &*DEFINITION.states[state].name;
    let edges: Vec<_> = DEFINITION
        .edges
        .iter()
        .map(|edge| (name(edge.from), &*edge.trigger, name(edge.to)))
        .collect();
    assert_eq!(edges, TABLE);
}

/// Every pair of state and trigger: an edge where the table has one, none elsewhere.
#[test]
fn every_pair_is_as_in_the_table() {
    for (index, state) in STATES.iter().enumerate() {
        for (_, trigger, _) in TABLE {
            let expected = TABLE.iter().find(|row| row.0 == *state && row.1 == trigger);
            let found = DEFINITION.find_move(index, trigger);
            let targets = found.iter().flat_map(Move::targets).map(|state| &*state.name);
            let expected: Vec<_> = expected.iter().map(|row| row.2).collect();
            assert_eq!(targets.collect::<Vec<_>>(), expected, "{state} {trigger}");
        }
    }
    assert!(DEFINITION.find_move(0, "explode").is_none());
}

/// 9 legal of 7 x 7 pairs, counting WAITING to CANCELLED once: 8; it has two triggers.
#[test]
fn forty_nine_pairs_and_eight_of_them_legal() {
    let pair =
        |from: usize, to: usize| DEFINITION.leaving(from).filter(|edge| edge.to == to).count();
    let pairs: Vec<_> =
        (0..7).flat_map(|from| (0..7).map(move |to| (from, to))).map(|(f, t)| pair(f, t)).collect();
    assert_eq!(pairs.len(), 49);
    assert_eq!(pairs.iter().sum::<usize>(), 9);
    assert_eq!(pairs.iter().filter(|count| **count > 0).count(), 8);
}

/// EX-1: which is initial, which are stable, which are terminal.
#[test]
fn the_states_are_those_of_the_specification() {
    let names: Vec<_> = DEFINITION.states.iter().map(|state| &*state.name).collect();
    assert_eq!(names, STATES);
    assert_eq!(DEFINITION.states[DEFINITION.initial].name, "pending");
    for state in &*DEFINITION.states {
        let terminal = ["completed", "failed", "rejected", "cancelled"].contains(&&*state.name);
        assert_eq!(state.terminal, terminal, "{}", state.name);
        assert_eq!(state.stable, state.name == "waiting", "{}", state.name);
        assert_eq!(state.label, state.name.to_uppercase());
        assert!(!state.docs.is_empty(), "{}", state.name);
    }
}

/// The payload of each trigger becomes the fields of its target. A deadline has no caller, and
/// computes them.
#[test]
fn payloads_are_fields_of_the_target() {
    for edge in &*DEFINITION.edges {
        let target = &DEFINITION.states[edge.to];
        let brought = if edge.deadline.is_some() { &[][..] } else { &*target.fields };
        assert_eq!(&*edge.payload, brought, "{}", edge.trigger);
    }
    let fields = |state: &str| {
        let state = &DEFINITION.states[DEFINITION.state(state).unwrap()];
        state.fields.iter().map(|field| (&*field.name, &*field.ty)).collect::<Vec<_>>()
    };
    assert_eq!(fields("waiting"), [("prompt", "String")]);
    assert_eq!(fields("completed"), [("result", "String")]);
    assert_eq!(fields("running"), []);
}

/// The sentences that errors contain.
#[test]
fn the_legal_moves_are_a_sentence() {
    let moves = |state: &str| DEFINITION.legal_moves(DEFINITION.state(state).unwrap()).to_string();
    assert_eq!(moves("pending"), "from PENDING you can: start -> RUNNING");
    assert_eq!(
        moves("waiting"),
        "from WAITING you can: resume -> RUNNING, cancel -> CANCELLED, timeout -> CANCELLED"
    );
    assert_eq!(moves("failed"), "FAILED is terminal: nothing leaves it");
}
