//! Definitions with random changes are refused, or can be used.

use machine::definition::Definition;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    owned::{all, parcel, read},
    xml,
};

/// Calls everything that a definition offers. Nothing may panic, and the answers must be
/// consistent.
fn use_all_of(definition: &Definition) {
    for (index, state) in definition.states.iter().enumerate() {
        assert_eq!(definition.state(&state.name), Some(index));
        assert!(definition.legal_moves(index).to_string().contains(&*state.label));
        let edges: usize = definition.moves(index).map(|found| found.edges().len()).sum();
        assert_eq!(edges, definition.leaving(index).count());
        for found in definition.moves(index) {
            let is_choice = found.edge().when.is_some();
            assert_eq!(is_choice, found.edges().iter().all(|edge| edge.when.is_some()));
            assert_eq!(definition.find_move(index, found.trigger()), Some(found));
            assert!(found.to_string().starts_with(found.trigger()));
        }
    }
    for edge in &*definition.edges {
        assert_eq!(definition.edge(edge.from, &edge.trigger, edge.to), Some(edge));
    }
    let _ = definition.mermaid();
    let shown = xml::texts(&definition.svg()).unwrap();
    assert_eq!(shown.len(), definition.states.len() + definition.edges.len());
    let _ = definition.compare(definition).to_string();
    let text = serde_json::to_string(definition).unwrap();
    assert_eq!(&serde_json::from_str::<Definition>(&text).unwrap(), definition);
    for other in all() {
        let _ = other.compare(definition);
        let comparison = definition.compare(other);
        if definition.fingerprint == other.fingerprint {
            assert!(comparison.is_compatible(), "{comparison}");
        }
    }
    // Another definition of the same machine.
    let parcel = read(&parcel()).unwrap();
    let there = definition.compare(&parcel);
    assert_eq!(there.is_compatible(), there.differences.iter().all(|change| change.compatible));
    let _ = (there.to_string(), parcel.compare(definition).to_string());
}

/// The pointers to all parts of a JSON value.
fn pointers(value: &Value, here: &str, into: &mut Vec<String>) {
    into.push(here.to_owned());
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointers(item, &format!("{here}/{index}"), into);
            }
        }
        Value::Object(fields) => {
            for (name, item) in fields {
                pointers(item, &format!("{here}/{name}"), into);
            }
        }
        _ => {}
    }
}

#[derive(Debug, Clone)]
enum Mutation {
    Replace(Value),
    Remove,
    /// Repeats the last item of an array.
    Duplicate,
    /// Copies the value of another part.
    Copy(usize),
}

fn part() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2_i64..6).prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z]{0,3}".prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just(json!([0, 1, 2])),
    ]
}

fn mutation() -> impl Strategy<Value = Mutation> {
    prop_oneof![
        3 => part().prop_map(Mutation::Replace),
        1 => Just(Mutation::Remove),
        1 => Just(Mutation::Duplicate),
        2 => any::<usize>().prop_map(Mutation::Copy),
    ]
}

fn mutate(value: &mut Value, at: usize, mutation: Mutation) {
    let mut places = Vec::new();
    pointers(value, "", &mut places);
    let pointer = places[at % places.len()].clone();
    match mutation {
        Mutation::Replace(part) => *value.pointer_mut(&pointer).unwrap() = part,
        Mutation::Copy(from) => {
            let part = value.pointer(&places[from % places.len()]).unwrap().clone();
            *value.pointer_mut(&pointer).unwrap() = part;
        }
        Mutation::Duplicate => {
            if let Some(items) = value.pointer_mut(&pointer).and_then(Value::as_array_mut) {
                let last = items.last().cloned();
                items.extend(last);
            }
        }
        Mutation::Remove => {
            let Some((parent, key)) = pointer.rsplit_once('/') else { return };
            match value.pointer_mut(parent).unwrap() {
                Value::Array(items) => drop(items.remove(key.parse().unwrap())),
                Value::Object(fields) => drop(fields.remove(key)),
                _ => {}
            }
        }
    }
}

#[test]
fn every_definition_can_be_used() {
    all().into_iter().for_each(use_all_of);
}

proptest! {
    /// A definition with a few changes is either refused or usable.
    #[test]
    fn changed_json_is_refused_or_usable(
        which in 0_usize..5,
        mutations in prop::collection::vec((any::<usize>(), mutation()), 1..5),
    ) {
        let mut value = match all().get(which) {
            Some(definition) => serde_json::to_value(definition).unwrap(),
            None => parcel(),
        };
        for (at, mutation) in mutations {
            mutate(&mut value, at, mutation);
        }
        if let Ok(definition) = read(&value) {
            use_all_of(&definition);
        }
    }

    /// Changed bytes of the text are either refused or usable.
    #[test]
    fn changed_text_is_refused_or_usable(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = parcel().to_string().into_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(definition) = serde_json::from_slice::<Definition>(&bytes) {
            use_all_of(&definition);
        }
    }
}
