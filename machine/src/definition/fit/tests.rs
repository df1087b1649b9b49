use serde_json::{Value, json};

use super::*;

/// The moves out of a state, each with its actors, or with `after` for a deadline; and whether the
/// state is a question without `#[stable]`.
const TABLE: &[(&str, bool)] = &[
    ("accept human, send_back human", true),
    ("accept customer", true),
    ("accept human customer", true),
    ("accept human, expire after", true),
    ("accept human, cancel graph_runner", true),
    ("accept human, cancel", true),
    ("expire after, cancel human graph_runner", true),
    ("done ecs_node", false),
    ("done ecs_node, stop human, cancel human", false),
    ("done, pause human", false),
    ("written call, accept human", false),
    ("accept human ecs_node", false),
    ("accept", false),
    ("expire after", false),
    ("expire after, cancel graph_runner", false),
    ("cancel", false),
    ("", false),
];

fn edge(text: &str) -> Value {
    let mut words = text.split(' ');
    let trigger = words.next();
    let (actors, deadlines): (Vec<_>, Vec<_>) = words.partition(|word| *word != "after");
    let deadline = deadlines.first().map(|_| json!({ "after": "context.limit" }));
    json!({ "from": 0, "trigger": trigger, "to": 1, "actors": actors, "deadline": deadline })
}

fn definition(moves: &str, stable: bool) -> Definition {
    let actor = |kind: &str| {
        let is_human = ["human", "customer"].contains(&kind);
        json!({ "kind": kind, "category": if is_human { "human" } else { "system" } })
    };
    let actors = ["human", "customer", "ecs_node", "graph_runner", "call"].map(actor);
    let written = json!({
        "name": "one",
        "states": [
            { "name": "here", "label": "HERE", "stable": stable },
            { "name": "gone", "label": "GONE", "terminal": true },
        ],
        "edges": moves.split(", ").filter(|text| !text.is_empty()).map(edge).collect::<Vec<_>>(),
        "initial": 0,
        "actors": actors,
    });
    serde_json::from_value(written).unwrap()
}

#[test]
fn a_state_that_may_last_or_that_only_people_leave_is_a_question() {
    for (moves, expected) in TABLE {
        let definition = |stable| definition(moves, stable);
        assert_eq!(definition(false).is_question(0), *expected, "{moves:?}");
        assert!(definition(true).is_question(0), "{moves:?}, and `#[stable]`");
        assert!(!definition(true).is_question(1), "a terminal state");
    }
}
