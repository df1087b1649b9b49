//! The oracle of stored arguments.

use std::collections::BTreeSet;

use machine_tests::oracle::Differences;
use serde_json::{Value, json};

/// It sees what a comparison might ignore.
#[test]
fn the_oracle_sees_each_kind_of_difference() {
    let arguments = || {
        json!({
            "cents": 500,
            "lines": [{ "item": "tea", "count": 2 }],
            "tags": ["a", "b"],
            "note": null,
        })
    };
    let with = |pointer: &str, value: Value| {
        let mut changed = arguments();
        *changed.pointer_mut(pointer).unwrap() = value;
        changed
    };
    let read = |read: &Value| Differences::between(&arguments(), read);
    for same in [
        arguments(),
        with("/cents", json!(500.0)),
        with("/lines/0/count", json!(2.0)),
        with("/lines/0", json!({ "count": 2, "item": "tea", "gift": null })),
    ] {
        assert_eq!(read(&same), Differences::default(), "{same}");
    }
    for (other, place) in [
        (with("/cents", json!(501)), "cents"),
        (with("/cents", json!(500.5)), "cents"),
        (with("/cents", json!("500")), "cents"),
        (with("/cents", json!(null)), "cents"),
        (with("/lines/0/count", json!(3)), "lines[0].count"),
        (with("/lines/0", json!({ "item": "tea" })), "lines[0].count"),
        (with("/lines", json!([])), "lines"),
        (with("/tags", json!(["b", "a"])), "tags[0]"),
    ] {
        let found = read(&other);
        assert_eq!(found.changed.first().map(String::as_str), Some(place), "{other}");
        assert!(found.refusal(false, &[]).is_some(), "{other}");
    }
    let added = read(&with("/lines/0", json!({ "item": "tea", "count": 2, "gift": 1 })));
    assert_eq!(added.added, BTreeSet::from(["lines[].gift".to_owned()]));
    assert_eq!(added.refusal(false, &[]), None);
    assert_eq!(added.refusal(true, &["lines[].gift"]), None);
    let refusal = added.refusal(true, &["gift"]);
    assert_eq!(refusal.as_deref(), Some("this program adds `lines[].gift`"));
}
