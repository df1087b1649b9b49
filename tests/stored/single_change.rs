//! Any single change of a serialized machine is refused (DESIGN 3).

use machine::{contract::AnyExecution, stored::Unverified};
use proptest::{prelude::*, sample::Index};
use serde_json::Value;

use crate::stored::{
    model::{Who, actors, events},
    walk::{declined, eventful, walked},
};

/// The path of a value: the names and indexes that lead to it.
type Path = Vec<Result<String, usize>>;

/// Collects every leaf, and every name in an object with the path of the object.
fn walk(value: &Value, path: &mut Path, leaves: &mut Vec<Path>, names: &mut Vec<(Path, String)>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                names.push((path.clone(), name.clone()));
                path.push(Ok(name.clone()));
                walk(value, path, leaves, names);
                path.pop();
            }
        }
        Value::Array(items) => {
            for (at, value) in items.iter().enumerate() {
                path.push(Err(at));
                walk(value, path, leaves, names);
                path.pop();
            }
        }
        _ => leaves.push(path.clone()),
    }
}

fn at<'a>(value: &'a mut Value, path: &[Result<String, usize>]) -> &'a mut Value {
    path.iter().fold(value, |value, step| match step {
        Ok(name) => &mut value[name.as_str()],
        Err(at) => &mut value[*at],
    })
}

/// The next character of the same class, so that digests and ids stay well-formed.
fn other(character: char) -> char {
    match character {
        'f' | 'z' => 'a',
        '9' => '0',
        other => char::from_u32(other as u32 + 1).unwrap_or('x'),
    }
}

/// All changes of one leaf.
fn changes(leaf: &Value) -> Vec<Value> {
    match leaf {
        Value::String(text) => {
            let mut changed = vec![Value::from(format!("{text}x")), Value::Null];
            for position in [0, text.chars().count() / 2, text.chars().count().saturating_sub(1)] {
                let swap = |(at, c)| if at == position { other(c) } else { c };
                changed.push(text.chars().enumerate().map(swap).collect::<String>().into());
            }
            // Empty text has no character to change.
            changed.retain(|changed| changed != leaf);
            changed
        }
        Value::Number(number) => {
            let number = number.as_i64().unwrap();
            vec![(number + 1).into(), (number - 1).into(), (-number - 1).into(), i64::MAX.into()]
        }
        Value::Bool(value) => vec![(!value).into()],
        Value::Null => vec!["x".into(), 0.into()],
        Value::Array(_) | Value::Object(_) => Vec::new(),
    }
}

/// All variants of a machine with a single change.
fn variants(whole: &Value) -> Vec<(String, Value)> {
    let (mut paths, mut named) = (Vec::new(), Vec::new());
    walk(whole, &mut Vec::new(), &mut paths, &mut named);
    let mut variants = Vec::new();
    for path in &paths {
        for change in changes(at(&mut whole.clone(), path)) {
            let mut variant = whole.clone();
            let name = format!("{path:?} = {change}");
            *at(&mut variant, path) = change;
            variants.push((name, variant));
        }
    }
    let entries = whole["journal"].as_array().unwrap();
    for position in 0..entries.len() {
        let edit = |edit: &dyn Fn(&mut Vec<Value>)| {
            let mut variant = whole.clone();
            edit(variant["journal"].as_array_mut().unwrap());
            variant
        };
        let dropped = edit(&|journal| drop(journal.remove(position)));
        let doubled = edit(&|journal| journal.insert(position, journal[position].clone()));
        variants.push((format!("dropped {position}"), dropped));
        variants.push((format!("doubled {position}"), doubled));
        if position > 0 {
            let swapped = edit(&|journal| journal.swap(position, position - 1));
            variants.push((format!("swapped {position}"), swapped));
        }
    }
    for (path, name) in named {
        let mut variant = whole.clone();
        let Value::Object(map) = at(&mut variant, &path) else { panic!() };
        let value = map.remove(&name).unwrap();
        map.insert(format!("{name}x"), value);
        variants.push((format!("{path:?} without {name}"), variant));
    }
    variants
}

fn verifies(variant: Value) -> bool {
    serde_json::from_value::<Unverified>(variant)
        .is_ok_and(|claim| claim.verify::<AnyExecution>().is_ok())
}

/// Every change of every value in a history with every kind of entry.
#[test]
fn every_change_of_an_eventful_history_is_refused() {
    for claim in [eventful(), declined()] {
        let whole = serde_json::to_value(claim).unwrap();
        assert!(verifies(whole.clone()));
        let variants = variants(&whole);
        assert!(variants.len() > 100);
        for (name, variant) in variants {
            assert!(!verifies(variant), "passed verification: {name}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A random change in a random history.
    #[test]
    fn any_change_is_refused(
        steps in prop::collection::vec((events(), actors()), 0..12),
        chosen in prop::collection::vec(any::<Index>(), 8),
    ) {
        use machine::contract::execution::Event;
        let start = (Event::Start, Who::Tool);
        let machine = walked(std::iter::once(start).chain(steps).collect());
        let whole = serde_json::to_value(&machine).unwrap();
        prop_assert!(verifies(whole.clone()));
        let variants = variants(&whole);
        for chosen in chosen {
            let (name, variant) = chosen.get(&variants).clone();
            prop_assert!(!verifies(variant), "passed verification: {name}");
        }
    }
}
