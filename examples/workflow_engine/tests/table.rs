//! The rows of the machine are those of WF-1: none is missing, none is added.

use std::collections::BTreeSet;

use crate::workflow::workflow::DEFINITION;

/// WF-1, with the actors that may take each row.
const ROWS: [(&str, &str, &str, &str); 23] = [
    ("idle", "start_task", "initializing", "graph_runner"),
    ("initializing", "initialization_complete", "planning", "graph_runner"),
    ("initializing", "initialization_failed", "failed", "graph_runner"),
    ("planning", "plan_ready", "executing", "reasoning"),
    ("planning", "need_intervention", "manual_intervention", "graph_runner"),
    // The same row when a person wants it: the condition `UserRequest` is theirs alone.
    ("planning", "request_intervention", "manual_intervention", "human"),
    ("planning", "planning_failed", "failed", "graph_runner"),
    ("executing", "step_complete", "planning", "graph_runner"),
    ("executing", "need_intervention", "manual_intervention", "graph_runner"),
    ("executing", "request_intervention", "manual_intervention", "human"),
    ("executing", "execution_complete", "completed", "graph_runner"),
    ("executing", "step_failed", "failed", "graph_runner"),
    // Not one of WF-1: an entry makes its call once, so another attempt at a step enters the state
    // again.
    ("executing", "retry_step", "executing", "graph_runner"),
    ("manual_intervention", "user_resume", "executing", "human"),
    ("manual_intervention", "user_modify", "planning", "human"),
    ("manual_intervention", "user_terminate", "terminated", "human"),
    ("initializing", "system_timeout", "terminated", "graph_runner"),
    ("planning", "system_timeout", "terminated", "graph_runner"),
    ("executing", "system_timeout", "terminated", "graph_runner"),
    ("manual_intervention", "system_timeout", "terminated", "graph_runner"),
    ("completed", "reset", "idle", "graph_runner"),
    ("failed", "reset", "idle", "graph_runner"),
    ("terminated", "reset", "idle", "graph_runner"),
];

/// The rows, without the actors.
pub fn rows() -> BTreeSet<(String, String, String)> {
    let row = |&(from, trigger, to, _): &(&str, &str, &str, &str)| {
        (from.to_owned(), trigger.to_owned(), to.to_owned())
    };
    ROWS.iter().map(row).collect()
}

#[test]
fn the_rows_are_those_of_the_table() {
    let name = |state: usize| &*DEFINITION.states[state].name;
    let declared = DEFINITION
        .edges
        .iter()
        .map(|edge| (name(edge.from), &*edge.trigger, name(edge.to), edge.actors.join(", ")));
    let declared: BTreeSet<_> = declared.collect();
    let expected: BTreeSet<_> =
        ROWS.iter().map(|&(from, trigger, to, by)| (from, trigger, to, by.to_owned())).collect();
    assert_eq!(declared, expected);
    assert_eq!(DEFINITION.edges.len(), ROWS.len());
    assert_eq!(name(DEFINITION.initial), "idle");
    assert!(DEFINITION.states.iter().all(|state| !state.terminal), "an engine never ends");
}
