//! Arguments that change, or are lost, on their way through the store.

use std::collections::BTreeMap;

use machine::contract::{
    Contract, Idempotent, InvalidContract, Irreversible, Planned, Tool, ToolSpec,
};
use machine_tests::{actors::reasoning_node, assert_err, tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::tool::of;

/// Arguments that do not survive storage are not planned: a person could approve other arguments
/// than those that run.
#[test]
fn arguments_that_cannot_be_stored_are_refused() {
    #[derive(Debug, Serialize, Deserialize)]
    struct Unit;
    #[derive(Debug, Serialize, Deserialize)]
    struct Wrapped(String);
    macro_rules! shapeless {
        ($($name:ident)*) => {$(
            impl Tool for $name {
                const SERVICE: &'static str = "s";
                const METHOD: &'static str = "m";
                type Effect = Idempotent;
                type Receipt = ();
                type Refusal = String;
            }
        )*};
    }
    shapeless!(Unit Wrapped);
    tool!(Number { number: f64 } = "s", "m", Idempotent);
    tool!(
        OneWay {
            #[serde(rename(serialize = "written", deserialize = "read"))]
            field: u32
        } = "s",
        "m",
        Idempotent
    );
    tool!(NotText { map: BTreeMap<(u8, u8), u8> } = "s", "m", Idempotent);
    tool!(Long { text: String } = "s", "m", Idempotent);
    assert_err!(of(&Unit), InvalidContract::NotAnObject("null"));
    assert_err!(of(&Wrapped("x".to_owned())), InvalidContract::NotAnObject("a string"));
    assert_err!(of(&Number { number: f64::NAN }), InvalidContract::Arguments { .. });
    assert_err!(of(&OneWay { field: 1 }), InvalidContract::Arguments { .. });
    assert_err!(of(&NotText { map: [((1, 2), 3)].into() }), InvalidContract::Arguments { .. });
    assert_err!(of(&Long { text: "x".repeat(300_000) }), InvalidContract::TooLarge { .. });
    assert!(of(&Number { number: 0.1 }).is_ok());
}

/// Arguments that would change on their way to the call are neither planned nor called.
#[test]
fn arguments_that_change_when_they_are_read_are_refused() {
    use std::sync::atomic::{AtomicU32, Ordering};

    fn next() -> u32 {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        NEXT.fetch_add(1, Ordering::SeqCst)
    }
    /// Writes another value than it reads.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn doubled<S: serde::Serializer>(cents: &u32, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u32(cents * 2)
    }
    tool!(
        Transfer {
            to: String,
            #[serde(skip_deserializing, default = "next")]
            cents: u32
        } = "bank",
        "transfer",
        Irreversible
    );
    tool!(
        Doubled {
            #[serde(serialize_with = "doubled")]
            cents: u32
        } = "bank",
        "transfer",
        Irreversible
    );
    tool!(
        Defaulted {
            to: String,
            #[serde(default = "next")]
            cents: u32
        } = "bank",
        "transfer",
        Irreversible
    );
    tool!(Tagged { tags: std::collections::HashSet<String> } = "bank", "transfer", Irreversible);
    let to = || "eve".to_owned();
    let text = "they change when they are read back";
    assert_err!(of(&Transfer { to: to(), cents: 7 }), InvalidContract::Arguments { reason, .. }
        if reason.contains(text));
    assert_err!(of(&Doubled { cents: 7 }), InvalidContract::Arguments { reason, .. }
        if reason.contains(text));
    // A small set is often written in the order in which it was read.
    for _ in 0..100 {
        let tags = ["a", "b", "c"].map(str::to_owned).into();
        assert_err!(of(&Tagged { tags }), InvalidContract::Arguments { reason, .. }
            if reason.contains(text));
    }
    // A value that is written is what runs; one that is left out must not change.
    let written = of(&Defaulted { to: to(), cents: 7 }).unwrap();
    assert_eq!(Planned::<Defaulted>::new(written).unwrap().arguments().cents, 7);
    let spec = ToolSpec::irreversible("bank", "transfer").unwrap();
    let call = |arguments: &str| Contract::tool_call(&spec, arguments, reasoning_node()).unwrap();
    let refused = Planned::<Defaulted>::new(call(r#"{"to": "eve"}"#));
    assert_err!(refused, InvalidContract::Arguments { reason, .. }
        if reason.contains("they differ each time"));
    let tags: Vec<_> = (0..50).map(|tag| tag.to_string()).collect();
    let tagged = Planned::<Tagged>::new(call(&json!({ "tags": tags }).to_string()));
    assert_err!(tagged, InvalidContract::Arguments { reason, .. }
        if reason.contains("they differ each time"));
}

/// The stored action is the approved one: a field that is not stored neither runs nor is shown.
#[test]
fn a_field_that_is_not_stored_is_not_shown() {
    tool!(
        Transfer {
            to: String,
            #[serde(skip)]
            shown: String
        } = "bank",
        "transfer",
        Irreversible,
        fn subject(&self, _language: &str) -> Option<String> {
            Some(format!("{}{}", self.to, self.shown))
        },
        fn identity(&self) -> Option<Value> {
            Some(json!([self.to, self.shown]))
        }
    );
    let contract = of(&Transfer { to: "eve".to_owned(), shown: " (your savings)".to_owned() });
    let stored = of(&Transfer { to: "eve".to_owned(), shown: String::new() }).unwrap();
    let contract = contract.unwrap();
    assert_eq!(contract.summary(), stored.summary());
    assert_eq!(contract.action(), stored.action());
    drop(Planned::<Transfer>::new(contract).unwrap());
}
