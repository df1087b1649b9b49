//! Differences between two definitions of a machine, in words, and whether stored data stay
//! readable.

use machine_tests::actors::tool_node;
use std::sync::Arc;

use machine::{
    actor::{Actor, Category, ToolNode},
    definition::{Comparison, Definition},
    machine,
    stored::Unverified,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The definition that the stored data were written under.
fn older() -> Value {
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

fn read(value: Value) -> Definition {
    serde_json::from_value(value).unwrap()
}

/// Compares the older definition with a changed one.
fn after(change: impl FnOnce(&mut Value)) -> Comparison {
    let mut newer = older();
    change(&mut newer);
    read(older()).compare(&read(newer))
}

/// The changes. Incompatible ones are marked with `! `.
fn sentences(comparison: &Comparison) -> Vec<String> {
    let mark = |compatible| if compatible { "" } else { "! " };
    let changes = comparison.changes().iter();
    changes.map(|change| format!("{}{change}", mark(change.compatible))).collect()
}

/// Asserts the sentences for a change. Incompatible ones are marked with `! `.
#[track_caller]
fn says(what: &str, comparison: &Comparison, expected: &[&str]) {
    assert_eq!(sentences(comparison), expected, "{what}");
    let compatible = expected.iter().all(|sentence| !sentence.starts_with("! "));
    assert_eq!(comparison.is_compatible(), compatible, "{what}");
    let words: Vec<_> = expected.iter().map(|sentence| sentence.trim_start_matches("! ")).collect();
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
fn put(value: &mut Value, path: &str, item: Value) {
    let (of, at) = path.rsplit_once('/').unwrap();
    match value.pointer_mut(of).unwrap() {
        items if at == "-" => push(items, item),
        Value::Array(items) => items[at.parse::<usize>().unwrap()] = item,
        object => object[at] = item,
    }
}

fn remove(value: &mut Value, index: usize) -> Value {
    value.as_array_mut().unwrap().remove(index)
}

/// Changes of the older definition: what is put where, or removed, and the sentences. Incompatible
/// ones are marked with `! `.
const CHANGES: &str = r#"
nothing

docs, guards, conditions, durations and groups are not a change of what is stored
/docs = "On its way."
/states/1/docs = "There."
/edges/0/when = "place.len() < 3"
/edges/2/guard = "has_key"
/groups = [{"name": "Open", "states": [0, 1]}]

another machine
/name = "letter"
/states/0/name = "far"
> ! `letter` and `parcel` are different machines

a state may be added
/states/- = {"name": "lost", "label": "LOST", "terminal": true}
/edges/- = {"from": 0, "trigger": "lose", "to": 3}
> state `lost` was added
> move AWAY -lose-> LOST was added

a state cannot be removed while a machine may be in it
/states/2 removed
/states/1/terminal = true
/edges/2 removed
/edges/1 removed
/actors = []
> ! state `gone` was removed: keep it until no machine is in it, or write `#[was = "gone"]` on the state that replaces it
> state `here` is now terminal
> move AWAY -arrive-> GONE was removed; it stays legal where it was made
> move HERE -fetch-> GONE was removed; it stays legal where it was made
> actor `clerk` was removed
> actor `owner` was removed

a state may be renamed
/states/1/name = "at_desk"
/states/1/label = "AT_DESK"
/states/1/was = ["there", "here"]
> state `here` was renamed to `at_desk`

two older states can become one
/states/2 removed
/states/0/was = ["gone"]
/edges/1/to = 0
/edges/2/to = 0
> state `gone` was renamed to `away`
> state `away` is no longer terminal

a state may be no longer terminal
/states/2/terminal = false
> state `gone` is no longer terminal

an optional field may be added
/states/1/fields/- = {"name": "shelf", "ty": "Option<u8>", "optional": true}
> in state `here`, optional field `shelf` was added

a field may be renamed
/states/1/fields/0 = {"name": "spot", "ty": "String", "was": ["place"]}
> in state `here`, field `place` was renamed to `spot`

renamed and retyped: the type is incompatible
/states/1/fields/0 = {"name": "spot", "ty": "Spot", "was": ["place"]}
> ! in state `here`, field `spot` changed from `String` to `Spot`: set `version = 2` on the machine and write `#[upgrade(1 => function)]` on the state
> in state `here`, field `place` was renamed to `spot`

a move may be added
/edges/- = {"from": 1, "trigger": "lose", "to": 2}
> move HERE -lose-> GONE was added

a move may be removed
/edges/2 removed
> move HERE -fetch-> GONE was removed; it stays legal where it was made

one branch of a choice may be removed
/edges/1 removed
> move AWAY -arrive-> GONE was removed; it stays legal where it was made

a choice that lost a branch is compared by another
/edges/0 removed
/edges/0/payload = []
> move AWAY -arrive-> HERE was removed; it stays legal where it was made
> move AWAY -arrive-> GONE no longer takes `place`

a move may lead elsewhere
/edges/2/to = 0
> move HERE -fetch-> GONE was removed; it stays legal where it was made
> move HERE -fetch-> AWAY was added

a trigger may be renamed
/edges/2/trigger = "collect"
/edges/2/was = ["fetch"]
> trigger `fetch` was renamed to `collect`

a trigger that was renamed without `was`
/edges/2/trigger = "collect"
> move HERE -fetch-> GONE was removed; it stays legal where it was made
> move HERE -collect-> GONE was added

a change that all branches of a choice share is reported once
/edges/0/trigger = "come"
/edges/0/was = ["arrive"]
/edges/1/trigger = "come"
/edges/1/was = ["arrive"]
> trigger `arrive` was renamed to `come`

a move may be for fewer
/edges/2/actors = ["owner"]
> move HERE -fetch-> GONE is for `owner`

a move may be for anyone
/edges/2/actors = []
> move HERE -fetch-> GONE is for anyone

a move may be for more
/edges/2/actors/- = "thief"
/actors/- = {"kind": "thief", "category": "human"}
> move HERE -fetch-> GONE is for `clerk`, `owner`, `thief`
> actor `thief` was added

the order in which actors are named does not count
/edges/2/actors = ["owner", "clerk"]

an actor may be renamed
/edges/2/actors = ["porter", "owner"]
/actors/0 = {"kind": "porter", "category": "human", "was": "clerk"}
> actor `clerk` was renamed to `porter`

an actor that was renamed without `was`
/edges/2/actors = ["porter", "owner"]
/actors/0/kind = "porter"
> move HERE -fetch-> GONE is for `porter`, `owner`
> actor `clerk` was removed
> actor `porter` was added

the initial state may change
/initial = 1
> a new machine is in `here` instead of `away`

a state may be no longer stable
/states/1/stable = false
> state `here` is no longer stable

a state may become stable
/states/0/stable = true
> state `away` is now stable

a move may get a deadline
/edges/2/deadline = {"after": "WEEK"}
> move HERE -fetch-> GONE has a deadline

a version may rise
/version = 2
> version 1 became version 2
"#;

#[test]
fn each_change_is_said() {
    for case in CHANGES.trim().split("\n\n") {
        let mut lines = case.lines();
        let what = lines.next().unwrap();
        let (mut newer, mut expected) = (older(), Vec::new());
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
        says(what, &read(older()).compare(&read(newer)), &expected);
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
    assert_eq!(comparison.changes().len(), 6, "{comparison}");
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
    assert_eq!(blocked.changes()[0].state.as_deref(), Some("here"));
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
    assert_eq!(said[0], "move AWAY -arrive-> HERE also takes `weight`");
    let said = of(json!([]));
    assert_eq!(said[0], "move AWAY -arrive-> HERE no longer takes `place`");
    let said = of(json!([{"name": "spot", "ty": "String", "was": ["place"]}]));
    assert_eq!(said[0], "item `place` of move AWAY -arrive-> HERE was renamed to `spot`");
    let said = of(json!([{"name": "place", "ty": "Place"}]));
    assert_eq!(
        said[0],
        "item `place` of move AWAY -arrive-> HERE changed from `String` to `Place`"
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
    assert_eq!(sentences(&back), ["move HERE -fetch-> GONE no longer has a deadline"]);
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
    assert_eq!(back.changes()[0].state, None);
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

/// Definitions with different fingerprints differ in words, too.
#[test]
fn no_change_means_the_same_fingerprint() {
    let changes: [fn(&mut Value); 6] = [
        |newer| newer["initial"] = json!(1),
        |newer| newer["states"][1]["stable"] = json!(false),
        |newer| newer["edges"][2]["deadline"] = json!({"after": "WEEK"}),
        |newer| newer["version"] = json!(2),
        |newer| newer["context"] = json!("Limits"),
        |newer| newer["states"][1]["fields"][1]["optional"] = json!(false),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut newer = older();
        change(&mut newer);
        let (older, newer) = (read(older()), read(newer));
        assert_ne!(older.fingerprint, newer.fingerprint, "change {number}");
        assert_ne!(older.compare(&newer).to_string(), "no change", "change {number}");
    }
}

/// Incompatible changes come first.
#[test]
fn incompatible_changes_come_first() {
    let comparison = after(|newer| {
        push(&mut newer["states"], json!({"name": "lost", "label": "LOST", "terminal": true}));
        newer["states"][0]["fields"] = json!([{"name": "sender", "ty": "String"}]);
        newer["states"][1]["fields"][0]["ty"] = json!("Place");
    });
    let compatible: Vec<_> = comparison.changes().iter().map(|change| change.compatible).collect();
    assert_eq!(compatible, [false, false, true]);
    assert_eq!(comparison.blocking("away").count(), 1);
    assert_eq!(comparison.blocking("here").count(), 1);
    assert_eq!(comparison.blocking("gone").count(), 0);
}

struct Porter;

impl Actor for Porter {
    const KIND: &'static str = "porter";
    const CATEGORY: Category = Category::Human;
    const WAS: Option<&'static str> = Some("clerk");
}

struct Clerk;

impl Actor for Clerk {
    const KIND: &'static str = "clerk";
    const CATEGORY: Category = Category::Human;
}

/// The first version of a program.
mod first {
    use super::{Clerk, Deserialize, Serialize, ToolNode, machine};

    #[machine(durable)]
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub(super) enum Visit {
        #[initial]
        #[on(greet(name, minutes, title: Option<String>) => Waiting, by = Clerk)]
        AtDoor,
        #[stable]
        #[on(call_in => Inside, by = Clerk | ToolNode)]
        Waiting { name: String, minutes: u8 },
        #[terminal]
        Inside { name: String },
    }
}

/// The second version: a state, a trigger, a field, a payload item and an actor are renamed, a
/// state is upgraded, and a state and two fields are new.
mod second {
    use super::{Deserialize, Porter, Serialize, ToolNode, machine};

    fn in_seconds(older: super::first::visit::Waiting) -> Result<visit::InLobby, &'static str> {
        if older.minutes > 240 {
            return Err("a wait is at most four hours");
        }
        let seconds = u32::from(older.minutes) * 60;
        Ok(visit::InLobby { name: older.name, seconds, guests: 0, host: None })
    }

    #[machine(durable, version = 2)]
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub(super) enum Visit {
        #[initial]
        #[on(greet(name, seconds = 0, #[was = "title"] form: Option<String>, guests = 0, host = None) =>
             InLobby, by = Porter)]
        AtDoor,
        #[stable]
        #[was = "Waiting"]
        #[upgrade(1 => in_seconds)]
        #[on(show_in(guest = name) => Inside, by = Porter | ToolNode, was = "call_in")]
        #[on(leave => Left)]
        InLobby {
            name: String,
            seconds: u32,
            #[serde(default)]
            guests: u8,
            host: Option<String>,
        },
        #[terminal]
        Inside {
            #[was = "name"]
            #[serde(alias = "name")]
            guest: String,
        },
        #[terminal]
        Left,
    }
}

/// The comparison of two definitions that `#[machine]` wrote.
#[test]
fn two_versions_of_a_declared_machine() {
    let comparison = first::visit::DEFINITION.compare(second::visit::DEFINITION);
    assert!(comparison.is_compatible());
    let expected = [
        "state `waiting` was renamed to `in_lobby`",
        "in state `in_lobby`, optional field `guests` was added",
        "in state `in_lobby`, optional field `host` was added",
        "in state `in_lobby`, field `minutes` was removed; it is upgraded from version 1",
        "in state `in_lobby`, field `seconds` was added, but is not an `Option` and has no serde \
         default; it is upgraded from version 1",
        "in state `inside`, field `name` was renamed to `guest`",
        "state `left` was added",
        "item `title` of move AT_DOOR -greet-> IN_LOBBY was renamed to `form`",
        "move AT_DOOR -greet-> IN_LOBBY no longer takes `minutes`",
        "trigger `call_in` was renamed to `show_in`",
        "move IN_LOBBY -leave-> LEFT was added",
        "actor `clerk` was renamed to `porter`",
    ];
    let said = sentences(&comparison);
    for sentence in expected {
        assert!(said.iter().any(|one| one == sentence), "`{sentence}` is missing: {said:#?}");
    }
    let back = second::visit::DEFINITION.compare(first::visit::DEFINITION);
    assert!(!back.is_compatible(), "there is no way back");
}

/// A compatible change can be read: `verify` accepts what `compare` allows.
#[test]
fn a_compatible_change_reads_what_was_stored() {
    let waiting = first::Visit::new().greet("Ann".to_owned(), 2, None, &Clerk);
    let stored = |any: first::AnyVisit| {
        let text = serde_json::to_string(&any).unwrap();
        let mut claim: Unverified = serde_json::from_str(&text).unwrap();
        claim.definitions.push(Arc::new(first::visit::DEFINITION.clone()));
        claim
    };
    let read: second::AnyVisit = stored(waiting.into()).verify().unwrap();
    let second::AnyVisit::InLobby(lobby) = read else { panic!("{read:?}") };
    let expected =
        second::visit::InLobby { name: "Ann".to_owned(), seconds: 120, guests: 0, host: None };
    assert_eq!(lobby.state(), &expected);
    assert_eq!(lobby.show_in(&Porter).state().guest, "Ann");

    // An upgrade may refuse the data of one machine.
    let waiting = first::Visit::new().greet("Eve".to_owned(), 241, None, &Clerk);
    let refused = stored(waiting.into()).verify::<second::AnyVisit>().unwrap_err().to_string();
    assert!(refused.contains("a wait is at most four hours"), "{refused}");

    let inside = first::Visit::new().greet("Bob".to_owned(), 1, None, &Clerk).call_in(tool_node());
    let read: second::AnyVisit = stored(inside.into()).verify().unwrap();
    let second::AnyVisit::Inside(inside) = read else { panic!("{read:?}") };
    assert_eq!(inside.state().guest, "Bob");
}
