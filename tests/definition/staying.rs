//! An edge says whether its moves stay in the state.

use machine::{
    definition::{Definition, Stays},
    machine,
    view::Topology,
};
use serde_json::{Value, json};

#[machine(on(rename(name) => Self, from = Working))]
#[derive(Debug)]
enum Job {
    #[initial]
    #[group(Working)]
    #[on(again => Reading)]
    #[on(touch(whole: bool) => if whole { Reading } else { Self })]
    #[on(retry => if name.is_empty() { Done } else { Self(name = String::new()) })]
    #[on(next => Writing)]
    Reading { name: String },

    #[group(Working)]
    #[on(finish => Done)]
    Writing { name: String },

    #[terminal]
    Done,
}

const EXPECTED: [(&str, &str, &str, Stays, &str); 8] = [
    ("reading", "again", "reading", Stays::Never, "again"),
    ("reading", "touch", "reading", Stays::ByBranch, "touch [whole or otherwise] / may stay"),
    ("reading", "retry", "done", Stays::Never, "retry [name.is_empty()]"),
    ("reading", "retry", "reading", Stays::Always, "retry [else] / stays"),
    ("reading", "next", "writing", Stays::Never, "next"),
    ("reading", "rename", "reading", Stays::Always, "rename / stays"),
    ("writing", "finish", "done", Stays::Never, "finish"),
    ("writing", "rename", "writing", Stays::Always, "rename / stays"),
];

#[test]
fn each_edge_says_whether_it_stays() {
    let name = |state: usize| &*job::DEFINITION.states[state].name;
    let edges = job::DEFINITION.edges.iter();
    let found: Vec<_> = edges
        .map(|edge| {
            let label = edge.label().to_string();
            (name(edge.from), &*edge.trigger, name(edge.to), edge.stays, label)
        })
        .collect();
    let expected = EXPECTED
        .map(|(from, trigger, to, stays, label)| (from, trigger, to, stays, label.to_owned()));
    assert_eq!(found, expected);
}

/// A topology has it where there is something to say.
#[test]
fn a_topology_says_which_moves_stay() {
    let topology = serde_json::to_value(Topology::of(job::DEFINITION)).unwrap();
    let edges = topology["edges"].as_array().unwrap();
    let found: Vec<&Value> = edges.iter().map(|edge| &edge["stays"]).collect();
    let (none, always, choice) = (&Value::Null, &json!("always"), &json!("by_branch"));
    assert_eq!(found, [none, choice, none, always, none, always, none, always]);
}

/// The definition as JSON, with another value of `stays` for the edge of this number.
fn with(edge: usize, stays: &str) -> serde_json::Result<Definition> {
    let mut value = serde_json::to_value(job::DEFINITION).unwrap();
    value["edges"][edge]["stays"] = json!(stays);
    serde_json::from_value(value)
}

/// An entry says under which definition it was written, and what the program did then.
#[test]
fn a_change_is_compatible_and_has_another_fingerprint() {
    let own = job::DEFINITION;
    assert_eq!(&with(0, "never").unwrap(), own);
    for (edge, stays, said) in [
        (0, "always", "move READING -again-> READING now stays in its state"),
        (0, "by_branch", "move READING -again-> READING now stays in its state in some branches"),
        (5, "never", "move READING -rename-> READING now enters its state again"),
    ] {
        let other = with(edge, stays).unwrap();
        assert_ne!(other.fingerprint, own.fingerprint);
        let comparison = own.compare(&other);
        assert_eq!(comparison.to_string(), said);
        assert!(comparison.is_compatible());
    }
}

#[test]
fn a_move_to_another_state_does_not_stay() {
    let refused = with(4, "always").unwrap_err().to_string();
    assert!(refused.contains("edge 4 stays, but leads to another state"), "{refused}");
}
