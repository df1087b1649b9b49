//! An edge says which fields of its target only the program knows.

use machine::definition::Definition;
use machine_tests::version;

version!(mod given [on(stop(reason = "stopped".to_owned()) => Stopped, from = Open)] enum Order {
    #[initial]
    #[group(Open)]
    #[on(pay(cents, tries = 0) => Paid)]
    New { name: String },
    #[group(Open)]
    #[on(check(strict: bool) => if strict {
        Paid(tries = tries + 1)
    } else if cents > 3 {
        Paid(cents = 3)
    } else {
        Stopped(reason = format!("{strict}"))
    })]
    #[on(store(code) => Stored)]
    Paid { name: String, cents: u32, tries: u32 },
    #[terminal]
    Stopped { name: String, reason: String },
    #[terminal]
    Stored {
        name: String,
        #[serde(default, alias = "paid")]
        cents: u32,
        #[serde(rename = "attempts")]
        tries: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<u8>,
    },
});

/// Nothing is written of it, so its fields are only what expressions set.
mod plain {
    use machine::machine;

    #[machine]
    #[derive(Debug)]
    pub(super) enum Lamp {
        #[initial]
        #[on(switch(times = times + 1) => Self)]
        #[on(tint(colour) => Self)]
        On { times: u32, colour: &'static str },
    }
}

fn computed<'a>(definition: &'a Definition, from: &str, trigger: &str, to: &str) -> Vec<&'a str> {
    let state = |name| definition.state(name).unwrap();
    let edge = definition.edge(state(from), trigger, state(to)).unwrap();
    edge.computed.iter().map(AsRef::as_ref).collect()
}

#[test]
fn expressions_compute() {
    let order = given::order::DEFINITION;
    assert_eq!(computed(order, "new", "pay", "paid"), ["tries"]);
    // Also those of groups, and those of any way of a choice to the same state.
    assert_eq!(computed(order, "new", "stop", "stopped"), ["reason"]);
    assert_eq!(computed(order, "paid", "stop", "stopped"), ["reason"]);
    assert_eq!(computed(order, "paid", "check", "paid"), ["cents", "tries"]);
    assert_eq!(computed(order, "paid", "check", "stopped"), ["reason"]);
    let lamp = plain::lamp::DEFINITION;
    assert_eq!(computed(lamp, "on", "switch", "on"), ["times"]);
    assert!(computed(lamp, "on", "tint", "on").is_empty());
}

/// A field that is written under another name, or in another form, differs from the journal.
#[test]
fn serde_attributes_count_where_they_change_what_is_written() {
    assert_eq!(computed(given::order::DEFINITION, "paid", "store", "stored"), ["tries", "code"]);
}
