//! Differences between two definitions of a machine, in words, and whether stored data stay
//! readable.

use machine::definition::{Comparison, Definition, Difference};
use serde_json::{Value, json};

/// The definition that the stored data were written under.
pub(super) fn older() -> Value {
    json!({
        "name": "parcel",
        "states": [
            {"name": "away", "label": "AWAY"},
            {"name": "here", "label": "HERE", "stable": true, "fields": [
                {"name": "place", "ty": "String"},
                {"name": "note", "ty": "Option<String>", "optional": true}
            ]},
            {"name": "gone", "label": "GONE", "terminal": true}
        ],
        "edges": [
            {"from": 0, "trigger": "arrive", "to": 1, "when": "fits",
             "payload": [{"name": "place", "ty": "String"}]},
            {"from": 0, "trigger": "arrive", "to": 2, "when": "else",
             "payload": [{"name": "place", "ty": "String"}]},
            {"from": 1, "trigger": "fetch", "to": 2, "actors": ["clerk", "owner"]}
        ],
        "initial": 0,
        "actors": [
            {"kind": "clerk", "category": "human"},
            {"kind": "owner", "category": "human"}
        ]
    })
}

pub(super) fn read(value: Value) -> Definition {
    serde_json::from_value(value).unwrap()
}

/// Compares the older definition with a changed one.
fn after(change: impl FnOnce(&mut Value)) -> Comparison {
    let mut newer = older();
    change(&mut newer);
    read(older()).compare(&read(newer))
}

/// The changes. Incompatible ones are marked with `! `, those that strand work with `~ `.
pub(super) fn sentences(comparison: &Comparison) -> Vec<String> {
    let sentence = |difference: &Difference| {
        let mark = match (difference.compatible, &difference.strands) {
            (false, _) => "! ",
            (true, Some(_)) => "~ ",
            (true, None) => "",
        };
        format!("{mark}{difference}")
    };
    comparison.differences.iter().map(sentence).collect()
}

/// Asserts the sentences for a change, with their marks.
#[track_caller]
pub(super) fn says(what: &str, comparison: &Comparison, expected: &[&str]) {
    assert_eq!(sentences(comparison), expected, "{what}");
    let compatible = expected.iter().all(|sentence| !sentence.starts_with("! "));
    assert_eq!(comparison.is_compatible(), compatible, "{what}");
    let words: Vec<_> =
        expected.iter().map(|sentence| sentence.trim_start_matches(['!', '~', ' '])).collect();
    let text = if words.is_empty() { "no change".to_owned() } else { words.join("; ") };
    assert_eq!(comparison.to_string(), text, "{what}");
}

/// Asserts that a change of a state, or of the context, needs an upgrade, and takes one.
#[track_caller]
fn needs_an_upgrade(change: fn(&mut Value), said: &str, advice: &str, upgrades: &str) {
    says(said, &after(change), &[&format!("! {said}: {advice}")]);
    let upgraded = after(|newer| {
        change(newer);
        newer["version"] = json!(2);
        put(newer, upgrades, json!([1]));
    });
    let expected =
        ["version 1 became version 2", &format!("{said}; it is upgraded from version 1")];
    says(said, &upgraded, &expected);
}

const UPGRADE_THE_STATE: &str =
    "set `version = 2` on the machine and write `#[upgrade(1 => function)]` on the state";

fn push(value: &mut Value, item: Value) {
    value.as_array_mut().unwrap().push(item);
}

/// Puts an item at a path; at `-` of an array it is the last one.
pub(super) fn put(value: &mut Value, path: &str, item: Value) {
    let (of, at) = path.rsplit_once('/').unwrap();
    match value.pointer_mut(of).unwrap() {
        items if at == "-" => push(items, item),
        Value::Array(items) => items[at.parse::<usize>().unwrap()] = item,
        object => object[at] = item,
    }
}

pub(super) fn remove(value: &mut Value, index: usize) -> Value {
    value.as_array_mut().unwrap().remove(index)
}

/// Compares a definition with each changed one of a table: what is put where, or removed, and what
/// is expected.
#[track_caller]
pub(super) fn each(table: &str, before: &Value, check: impl Fn(&str, &Comparison, &[&str])) {
    for case in table.trim().split("\n\n") {
        let mut lines = case.lines();
        let what = lines.next().unwrap();
        let (mut newer, mut expected) = (before.clone(), Vec::new());
        for line in lines {
            if let Some(sentence) = line.strip_prefix("> ") {
                expected.push(sentence);
            } else if let Some(path) = line.strip_suffix(" removed") {
                let (of, at) = path.rsplit_once('/').unwrap();
                remove(newer.pointer_mut(of).unwrap(), at.parse().unwrap());
            } else {
                let (path, item) = line.split_once(" = ").unwrap();
                put(&mut newer, path, serde_json::from_str(item).unwrap());
            }
        }
        check(what, &read(before.clone()).compare(&read(newer)), &expected);
    }
}

/// Only machines in a state that was removed, or renamed without `was`, cannot be read.
#[test]
fn a_state_that_is_missing_blocks_machines_in_it() {
    let comparison = after(|newer| {
        remove(&mut newer["states"], 2);
        newer["states"][1]["terminal"] = json!(true);
        remove(&mut newer["edges"], 2);
        remove(&mut newer["edges"], 1);
    });
    assert_eq!(comparison.blocking("gone").count(), 1);
    assert_eq!(comparison.blocking("away").count() + comparison.blocking("here").count(), 0);
    // Its moves are those of before with `was`: none was removed, none was added. Without `was`
    // they are.
    let comparison = after(|newer| newer["states"][1]["name"] = json!("at_desk"));
    assert_eq!(comparison.differences.len(), 6, "{comparison}");
    assert_eq!(comparison.blocking("here").count(), 1);
}

#[test]
fn a_required_field_needs_an_upgrade() {
    let add = |newer: &mut Value| {
        push(&mut newer["states"][1]["fields"], json!({"name": "shelf", "ty": "u8"}));
    };
    let said =
        "in state `here`, field `shelf` was added, but is not an `Option` and has no serde default";
    needs_an_upgrade(add, said, UPGRADE_THE_STATE, "/states/1/upgrades");
    // It takes an upgrade of this state, from the version of the data or from a later one: a state
    // without an upgrade from version 1 did not change in version 2.
    for (state, version, from, compatible) in
        [(1, 2, 1, true), (1, 3, 2, true), (0, 2, 1, false), (1, 2, 2, false), (1, 1, 1, false)]
    {
        let comparison = after(|newer| {
            add(newer);
            newer["version"] = json!(version);
            newer["states"][state]["upgrades"] = json!([from]);
        });
        assert_eq!(comparison.is_compatible(), compatible, "{state} {version} {from}");
    }
    let blocked = after(add);
    assert_eq!(blocked.differences[0].state.as_deref(), Some("here"));
    assert_eq!((blocked.blocking("here").count(), blocked.blocking("gone").count()), (1, 0));
}

#[test]
fn a_field_that_is_removed_needs_an_upgrade() {
    let change = |newer: &mut Value| drop(remove(&mut newer["states"][1]["fields"], 1));
    let said = "in state `here`, field `note` was removed";
    needs_an_upgrade(change, said, UPGRADE_THE_STATE, "/states/1/upgrades");
}

#[test]
fn a_field_of_another_type_needs_an_upgrade() {
    let change = |newer: &mut Value| newer["states"][1]["fields"][0]["ty"] = json!("Place");
    let said = "in state `here`, field `place` changed from `String` to `Place`";
    needs_an_upgrade(change, said, UPGRADE_THE_STATE, "/states/1/upgrades");
    // Advice that was already followed is not given.
    let comparison = after(|newer| {
        change(newer);
        newer["version"] = json!(7);
    });
    let advice = "to `Place`: write `#[upgrade(1 => function)]` on the state";
    assert!(comparison.to_string().contains(advice), "{comparison}");
}

#[test]
fn the_largest_version_does_not_overflow() {
    let mut value = older();
    value["version"] = json!(u32::MAX);
    let mut newer = value.clone();
    newer["states"][1]["fields"][0]["ty"] = json!("Place");
    let comparison = read(value).compare(&read(newer));
    assert!(!comparison.is_compatible());
}

/// The advice names `was` if the type is the same.
#[test]
fn a_field_that_is_renamed_without_was_is_removed_and_added() {
    let rename = |newer: &mut Value| newer["states"][1]["fields"][0]["name"] = json!("spot");
    let comparison = after(rename);
    let blocking: Vec<_> = comparison.blocking("here").map(ToString::to_string).collect();
    assert_eq!(blocking.len(), 2, "{comparison}");
    let advice = "if `place` was renamed, write `#[was = \"place\"]` on `spot`; otherwise set \
                  `version = 2` on the machine and write `#[upgrade(1 => function)]` on the state";
    assert!(blocking.iter().all(|text| text.contains(advice)), "{comparison}");
    let comparison = after(|newer| {
        rename(newer);
        newer["states"][1]["fields"][0]["ty"] = json!("Spot");
    });
    assert!(!comparison.to_string().contains("renamed"), "{comparison}");
}

#[test]
fn the_payload_of_a_move_may_change() {
    let payload = |payload: Value| {
        move |newer: &mut Value| {
            for edge in 0..2 {
                newer["edges"][edge]["payload"] = payload.clone();
            }
        }
    };
    let of = |payload_of: Value| sentences(&after(payload(payload_of)));
    let place = json!({"name": "place", "ty": "String"});
    let said = of(json!([place, {"name": "weight", "ty": "u32"}]));
    assert_eq!(said[0], "~ move AWAY -arrive-> HERE also takes `weight`");
    let said = of(json!([]));
    assert_eq!(said[0], "move AWAY -arrive-> HERE no longer takes `place`");
    let said = of(json!([{"name": "spot", "ty": "String", "was": ["place"]}]));
    assert_eq!(said[0], "item `place` of move AWAY -arrive-> HERE was renamed to `spot`");
    let said = of(json!([{"name": "place", "ty": "Place"}]));
    assert_eq!(
        said[0],
        "~ item `place` of move AWAY -arrive-> HERE changed from `String` to `Place`"
    );
    // Stored data hold a payload in their journals only, so all of this is compatible.
    assert!(said.iter().all(|sentence| !sentence.starts_with('!')));
    // Renamed and retyped: both are reported.
    let said = of(json!([{"name": "spot", "ty": "Spot", "was": ["place"]}]));
    assert!(said.iter().any(|one| one.contains("was renamed to `spot`")), "{said:?}");
    assert!(said.iter().any(|one| one.contains("changed from `String` to `Spot`")), "{said:?}");
}

#[test]
fn a_deadline_may_go_and_change() {
    let deadline = |after: &str| {
        let mut value = older();
        value["edges"][2]["deadline"] = json!({ "after": after });
        value
    };
    let (week, day) = (read(deadline("WEEK")), read(deadline("DAY")));
    let back = week.compare(&read(older()));
    assert_eq!(sentences(&back), ["~ move HERE -fetch-> GONE no longer has a deadline"]);
    assert_eq!(week.compare(&day).to_string(), "no change");
}

#[test]
fn a_version_does_not_go_back() {
    let mut value = older();
    value["version"] = json!(2);
    let back = read(value).compare(&read(older()));
    assert_eq!(
        sentences(&back),
        ["! the data has version 2, but this program has version 1: use the newer program"]
    );
    // The change concerns every machine, whatever state it is in.
    assert_eq!(back.blocking("gone").count(), 1);
    assert_eq!(back.differences[0].state, None);
}

#[test]
fn a_context_of_another_type_needs_an_upgrade() {
    let change = |newer: &mut Value| newer["context"] = json!("Limits");
    let comparison = after(|newer| {
        change(newer);
        newer["version"] = json!(3);
    });
    let advice = "to `Limits`: write `upgrade(1 => function)` on the machine";
    assert!(comparison.to_string().contains(advice), "{comparison}");
    let said = "the context changed from nothing to `Limits`";
    let advice = "set `version = 2` and `upgrade(1 => function)` on the machine";
    needs_an_upgrade(change, said, advice, "/upgrades");
    // An upgrade of a state does not upgrade the context.
    let comparison = after(|newer| {
        change(newer);
        newer["version"] = json!(2);
        newer["states"][1]["upgrades"] = json!([1]);
    });
    assert_eq!((comparison.is_compatible(), comparison.blocking("away").count()), (false, 1));
}

/// Incompatible changes come first.
#[test]
fn incompatible_changes_come_first() {
    let comparison = after(|newer| {
        push(&mut newer["states"], json!({"name": "lost", "label": "LOST", "terminal": true}));
        newer["states"][0]["fields"] = json!([{"name": "sender", "ty": "String"}]);
        newer["states"][1]["fields"][0]["ty"] = json!("Place");
    });
    let compatible: Vec<_> =
        comparison.differences.iter().map(|change| change.compatible).collect();
    assert_eq!(compatible, [false, false, true]);
    assert_eq!(comparison.blocking("away").count(), 1);
    assert_eq!(comparison.blocking("here").count(), 1);
    assert_eq!(comparison.blocking("gone").count(), 0);
}
