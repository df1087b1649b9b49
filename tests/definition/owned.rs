//! The owned form: definitions written as JSON and read back, and malformed ones refused.

use std::collections::BTreeSet;

use machine::{
    contract::execution,
    definition::{Definition, Edge},
};
use machine_tests::samples::{lease, ticket};
use serde_json::{Value, json};

use crate::definition::order;

pub(super) fn all() -> [&'static Definition; 4] {
    [execution::DEFINITION, ticket::DEFINITION, lease::DEFINITION, order::DEFINITION]
}

/// A definition with every part that there is.
pub(super) fn parcel() -> Value {
    json!({
        "name": "parcel",
        "docs": "On its way.",
        "version": 2,
        "context": "Rates",
        "upgrades": [1],
        "states": [
            {"name": "away", "label": "AWAY", "was": ["far"]},
            {"name": "here", "label": "HERE", "docs": "There.", "stable": true,
             "fields": [{"name": "place", "ty": "Option<String>", "optional": true, "was": ["spot"]}],
             "upgrades": [1]},
            {"name": "gone", "label": "GONE", "terminal": true}
        ],
        "edges": [
            {"from": 0, "trigger": "arrive", "to": 1, "when": "size < 3",
             "payload": [{"name": "size", "ty": "u8"}], "computed": ["place"]},
            {"from": 0, "trigger": "arrive", "to": 2, "when": "else",
             "payload": [{"name": "size", "ty": "u8"}]},
            {"from": 1, "trigger": "fetch", "to": 2, "actors": ["owner"], "guard": "has_key",
             "payload": []},
            {"from": 1, "trigger": "send_back", "to": 2, "actors": ["clerk"], "was": ["return"],
             "deadline": {"after": "context.week", "group": 0}}
        ],
        "initial": 0,
        "actors": [
            {"kind": "owner", "category": "human"},
            {"kind": "clerk", "category": "system", "was": "porter"}
        ],
        "groups": [{"name": "Stored", "states": [1]}]
    })
}

pub(super) fn read(value: &Value) -> Result<Definition, serde_json::Error> {
    serde_json::from_str(&value.to_string())
}

/// The error for a definition with one part replaced.
fn refused(pointer: &str, part: Value) -> String {
    let mut value = parcel();
    *value.pointer_mut(pointer).unwrap_or_else(|| panic!("there is no {pointer}")) = part;
    match read(&value) {
        Ok(definition) => panic!("{pointer}: {definition:?}"),
        Err(error) => error.to_string(),
    }
}

/// Every part is read, and definitions that differ in one part are not equal.
#[test]
fn every_part_is_read() {
    let whole = read(&parcel()).unwrap();
    assert_eq!(whole.version, 2);
    assert_eq!(&*whole.states[1].fields[0].was, ["spot"]);
    assert_eq!((whole.states[0].was.len(), &*whole.states[1].upgrades), (1, &[1][..]));
    assert_eq!(whole.edges[2].guard.as_deref(), Some("has_key"));
    assert_eq!(whole.edges[3].deadline.as_ref().unwrap().group, Some(0));
    assert_eq!(whole.actors[1].was.as_deref(), Some("porter"));
    assert_eq!(&*whole.groups[0].states, [1]);
    // Stored data count in the fingerprint of a definition; future behaviour does not.
    let mut fingerprints = BTreeSet::from([whole.fingerprint]);
    for (pointer, part, counts) in [
        ("/name", json!("letter"), true),
        ("/docs", json!(""), false),
        ("/version", json!(3), true),
        ("/context", json!(""), true),
        ("/upgrades", json!([]), false),
        ("/states/0/name", json!("gone_away"), true),
        ("/states/0/label", json!("Away"), false),
        ("/states/0/was", json!([]), true),
        ("/states/1/docs", json!(""), false),
        ("/states/1/stable", json!(false), true),
        (
            "/states/1/fields",
            json!([{"name": "place", "ty": "Option<String>"}, {"name": "room", "ty": "u8"}]),
            true,
        ),
        ("/states/1/fields/0/ty", json!("String"), true),
        ("/states/1/fields/0/optional", json!(false), true),
        ("/states/1/fields/0/was", json!([]), true),
        ("/states/1/upgrades", json!([]), false),
        ("/states/2/terminal", json!(false), true),
        ("/edges/0/when", json!("size < 4"), false),
        ("/edges/0/computed", json!([]), true),
        ("/edges/2/trigger", json!("take"), true),
        ("/edges/2/to", json!(0), true),
        ("/edges/2/payload", json!([{"name": "width", "ty": "u8"}]), true),
        ("/edges/2/payload", json!([{"name": "width", "ty": "u16"}]), true),
        ("/edges/2/actors", json!([]), true),
        ("/edges/2/actors", json!(["clerk"]), true),
        ("/edges/2/guard", json!(null), false),
        ("/edges/3/deadline", json!(null), true),
        ("/edges/3/deadline/after", json!("context.day"), false),
        ("/edges/3/deadline/group", json!(null), false),
        ("/edges/3/was", json!([]), true),
        ("/initial", json!(1), true),
        ("/actors/0/category", json!("agent"), false),
        ("/actors/1/was", json!(null), false),
        ("/groups/0/name", json!("Kept"), false),
        ("/groups/0/states", json!([0, 1]), false),
    ] {
        let mut value = parcel();
        *value.pointer_mut(pointer).unwrap() = part;
        let changed = read(&value).unwrap();
        assert_ne!(changed, whole, "{pointer}");
        assert_eq!(fingerprints.insert(changed.fingerprint), counts, "{pointer}");
    }
}

/// The parts that can be left out, and their defaults.
#[test]
fn most_parts_can_be_left_out() {
    let least = json!({
        "name": "lamp",
        "states": [{"name": "on", "label": "ON"}],
        "edges": [{"from": 0, "trigger": "blink", "to": 0}],
        "initial": 0
    });
    let lamp = read(&least).unwrap();
    assert_eq!((lamp.version, &*lamp.docs, lamp.groups.len()), (1, "", 0));
    let edge: &Edge = &lamp.edges[0];
    assert!(edge.actors.is_empty() && edge.payload.is_empty() && edge.was.is_empty());
    assert_eq!((&edge.guard, &edge.when, &edge.deadline), (&None, &None, &None));
    assert_eq!(lamp.legal_moves(0).to_string(), "from ON you can: blink -> ON");
    for part in ["name", "states", "edges", "initial"] {
        let mut value = least.clone();
        value.as_object_mut().unwrap().remove(part);
        let error = read(&value).unwrap_err().to_string();
        assert!(error.contains(&format!("missing field `{part}`")), "{error}");
    }
    for (pointer, part) in [
        ("/states/0", "name"),
        ("/states/0", "label"),
        ("/edges/0", "from"),
        ("/edges/0", "trigger"),
        ("/edges/0", "to"),
    ] {
        let mut value = least.clone();
        value.pointer_mut(pointer).unwrap().as_object_mut().unwrap().remove(part);
        let error = read(&value).unwrap_err().to_string();
        assert!(error.contains(&format!("missing field `{part}`")), "{error}");
    }
}

#[test]
fn an_index_out_of_range_is_refused() {
    for (pointer, part, what) in [
        ("/initial", json!(3), "initial state"),
        ("/initial", json!(usize::MAX), "initial state"),
        ("/edges/0/from", json!(3), "source of edge 0"),
        ("/edges/3/to", json!(17), "target of edge 3"),
        ("/edges/3/deadline/group", json!(1), "deadline of edge 3"),
        ("/groups/0/states", json!([1, 3]), "group `Stored`"),
        ("/states", json!([]), "initial state"),
    ] {
        let error = refused(pointer, part);
        assert!(error.starts_with("definition `parcel`: "), "{error}");
        assert!(error.contains(what), "{pointer}: {error}");
    }
}

#[test]
fn an_edge_computes_fields_of_its_target() {
    let error = refused("/edges/0/computed", json!(["place", "weight"]));
    assert!(error.contains("edge 0 computes `weight`, which is not a field of `here`"), "{error}");
}

#[test]
fn numbers_are_not_negative_and_not_too_large() {
    for pointer in ["/initial", "/version", "/edges/0/from", "/edges/0/to", "/groups/0/states/0"] {
        for number in [json!(-1), json!(1.5), json!(1e30), json!("1"), json!(null)] {
            let error = refused(pointer, number.clone());
            let expected = match &number {
                Value::Number(_) => {
                    error.contains("invalid value") || error.contains("invalid type")
                }
                _ => error.contains("invalid type"),
            };
            assert!(expected, "{pointer} {number}: {error}");
        }
    }
    assert!(refused("/version", json!(0)).contains("version"));
    assert!(refused("/version", json!(u64::from(u32::MAX) + 1)).contains("invalid value"));
}

/// Items that are found by name have unique names.
#[test]
fn names_within_a_definition_differ() {
    let twice = |pointer: &str| {
        let mut value = parcel();
        let items = value.pointer_mut(pointer).and_then(Value::as_array_mut).unwrap();
        let first = items[0].clone();
        items.push(first);
        read(&value).map(drop).map_err(|error| error.to_string())
    };
    for (pointer, name) in [
        ("/states", "`away`"),
        ("/states/1/fields", "`place`"),
        ("/actors", "`owner`"),
        ("/groups", "`Stored`"),
    ] {
        let error = twice(pointer).expect_err(pointer);
        assert!(error.contains(name), "{pointer}: {error}");
    }
    let mut value = parcel();
    for edge in 0..2 {
        let item = value["edges"][edge]["payload"][0].clone();
        value["edges"][edge]["payload"].as_array_mut().unwrap().push(item);
    }
    let error = read(&value).unwrap_err().to_string();
    assert!(error.contains("`size`"), "{error}");
}

/// The edges of a move are adjacent, and each has its own condition and target.
#[test]
fn the_edges_of_a_move_are_checked() {
    let mut apart = parcel();
    apart["edges"].as_array_mut().unwrap().swap(1, 2);
    let error = read(&apart).unwrap_err().to_string();
    assert!(error.contains("`arrive` from state 0"), "{error}");

    for (pointer, part) in
        [("/edges/0/when", json!(null)), ("/edges/1/when", json!(null)), ("/edges/1/to", json!(1))]
    {
        let error = refused(pointer, part);
        assert!(error.contains("`arrive` from state 0"), "{pointer}: {error}");
    }
    let error = refused("/edges/3/from", json!(2));
    assert!(error.contains("edge 3 leaves a terminal state"), "{error}");

    // One edge with a condition is a choice all of whose branches lead to one state.
    let mut one = parcel();
    one["edges"].as_array_mut().unwrap().remove(1);
    assert!(read(&one).unwrap().find_move(0, "arrive").unwrap().edge().when.is_some());
}

/// The edges of a choice share payload, actors, guard and deadline.
#[test]
fn the_edges_of_a_choice_agree() {
    for (pointer, part) in [
        ("/edges/1/payload", json!([])),
        ("/edges/1/payload", json!([{"name": "size", "ty": "u16"}])),
        ("/edges/0/actors", json!(["owner"])),
        ("/edges/0/guard", json!("has_key")),
        ("/edges/0/deadline", json!({"after": "context.week"})),
    ] {
        let mut value = parcel();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        value.pointer_mut(parent).unwrap()[key] = part;
        let error = read(&value).unwrap_err().to_string();
        assert!(error.contains("`arrive` from state 0"), "{pointer}: {error}");
    }
}

#[test]
fn other_json_is_refused() {
    for text in [
        "",
        "null",
        "7",
        "[]",
        "{}",
        "\"parcel\"",
        "{\"name\": \"parcel\"}",
        "{\"name\": \"parcel\", \"states\": {}, \"edges\": [], \"initial\": 0}",
        "{\"name\": \"parcel\", \"states\": [[]], \"edges\": [], \"initial\": 0}",
    ] {
        assert!(serde_json::from_str::<Definition>(text).is_err(), "{text}");
    }
    let text = parcel().to_string();
    for length in 0..text.len() {
        if let Some(start) = text.get(..length) {
            assert!(serde_json::from_str::<Definition>(start).is_err(), "{length} bytes");
        }
    }
    let error = refused("/actors/0/category", json!("ghost"));
    assert!(error.contains("unknown variant `ghost`"), "{error}");
}

#[test]
fn deep_nesting_is_refused() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}0{}", open.repeat(100_000), close.repeat(100_000));
        assert!(serde_json::from_str::<Definition>(&deep).is_err());
        let with = |part: &str| {
            let text = parcel().to_string();
            let text = text.replacen('{', &format!("{{\"{part}\":{deep},"), 1);
            serde_json::from_str::<Definition>(&text)
        };
        for part in ["states", "edges", "name", "initial", "groups"] {
            assert!(with(part).is_err(), "{part}");
        }
        // An unknown part is skipped, however deep it is.
        assert_eq!(with("comment").unwrap(), read(&parcel()).unwrap());
    }
}

/// Names may be long, but no error repeats a long name in full.
#[test]
fn a_long_name_is_not_repeated_in_an_error() {
    let long = "x".repeat(1 << 20);
    let mut named = parcel();
    named["name"] = json!(long);
    named["states"][1]["name"] = json!(long);
    named["edges"][2]["trigger"] = json!(long);
    named["groups"][0]["name"] = json!(long);
    let read_back = read(&named).unwrap();
    assert_eq!(read_back.state(&long), Some(1));
    assert!(read_back.find_move(1, &long).is_some());
    assert!(read_back.mermaid().len() > 1 << 20);

    for (pointer, part) in [
        ("/states/0/name", json!(long)),
        ("/initial", json!(3)),
        ("/groups/0/states/0", json!(3)),
        ("/edges/3/trigger", json!(long)),
    ] {
        let mut value = named.clone();
        *value.pointer_mut(pointer).unwrap() = part;
        let error = read(&value).unwrap_err().to_string();
        assert!(error.len() < 300, "{pointer}: {} bytes", error.len());
    }
}
