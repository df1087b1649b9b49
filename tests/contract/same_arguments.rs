//! Stored arguments, and those that a newer program reads from them.

use std::cell::RefCell;

use machine::contract::{
    Contract, Idempotent, InvalidContract, Irreversible, Planned, Tool, ToolSpec,
};
use machine_tests::{actors::reasoning_node, assert_err, oracle::Differences, tool};
use proptest::{prelude::*, sample::Index};
use serde::{Deserialize, Deserializer, Serialize, de::IgnoredAny};
use serde_json::Value;

use super::key::{changed, objects, values, written};

thread_local! {
    /// What the tool of the newer program reads, in turn.
    static READS: RefCell<Vec<Value>> = const { RefCell::new(Vec::new()) };
}

/// A tool of a newer program, which reads what the test says.
#[derive(Debug, Serialize)]
struct Newer<const LISTED: bool>(Value);

impl<'de, const LISTED: bool> Deserialize<'de> for Newer<LISTED> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(from)?;
        Ok(READS.with_borrow_mut(|reads| {
            reads.rotate_left(1);
            Self(reads.last().unwrap().clone())
        }))
    }
}

impl<const LISTED: bool> Tool for Newer<LISTED> {
    const SERVICE: &'static str = "bank";
    const METHOD: &'static str = "pay";
    type Effect = Idempotent;
    type Receipt = String;
    type Refusal = String;
    const ADDED: &'static [&'static str] =
        if LISTED { &["express", "to.city", "items[].gift", "rates{}.unit"] } else { &[] };
}

/// The verdict on a call with these stored arguments in a program that reads those, in turn.
fn planned<const LISTED: bool>(
    (stored, reads): (&str, &[&str]),
    spec: Result<ToolSpec, InvalidContract>,
) -> Result<(), InvalidContract> {
    let reads = reads.iter().map(|read| serde_json::from_str(read).unwrap());
    READS.set(reads.collect());
    let contract = Contract::tool_call(&spec.unwrap(), stored, reasoning_node()).unwrap();
    Planned::<Newer<LISTED>>::new(contract).map(drop)
}

fn irreversible(stored: &str, reads: &[&str]) -> Result<(), InvalidContract> {
    planned::<false>((stored, reads), ToolSpec::irreversible("bank", "pay"))
}

fn idempotent(stored: &str, reads: &[&str]) -> Result<(), InvalidContract> {
    planned::<false>((stored, reads), ToolSpec::idempotent("bank", "pay"))
}

fn listed(stored: &str, reads: &[&str]) -> Result<(), InvalidContract> {
    planned::<true>((stored, reads), ToolSpec::irreversible("bank", "pay"))
}

#[test]
fn the_same_arguments_run() {
    for (stored, read) in [
        ("{}", "{}"),
        (r#"{"cents":500}"#, r#"{"cents":500}"#),
        (r#"{"a":1,"b":{"c":2,"d":3}}"#, r#"{"b":{"d":3,"c":2},"a":1}"#),
        (r#"{"cents":1}"#, r#"{"cents":1.0}"#),
        (r#"{"cents":1e2}"#, r#"{"cents":100}"#),
        (r#"{"cents":0}"#, r#"{"cents":-0.0}"#),
        (r#"{"rate":0.1}"#, r#"{"rate":1e-1}"#),
        (r#"{"big":18446744073709551615}"#, r#"{"big":18446744073709551615}"#),
        (r#"{"items":[1,{"n":2.0},[]]}"#, r#"{"items":[1.0,{"n":2},[]]}"#),
        (r#"{"note":null}"#, "{}"),
        ("{}", r#"{"note":null}"#),
        (r#"{"to":{"city":null,"zip":1}}"#, r#"{"to":{"zip":1,"name":null}}"#),
        (r#"{"items":[{"a":null}]}"#, r#"{"items":[{}]}"#),
    ] {
        assert_runs(&irreversible(stored, &[read]), stored);
        assert_runs(&idempotent(stored, &[read]), stored);
    }
}

#[track_caller]
fn assert_runs(planned: &Result<(), InvalidContract>, stored: &str) {
    assert!(planned.is_ok(), "{stored}: {planned:?}");
}

/// The error has the place.
#[test]
fn other_arguments_are_refused() {
    for (stored, read, place) in [
        (r#"{"cents":500}"#, r#"{"cents":100}"#, "cents"),
        (r#"{"cents":500}"#, r#"{"cents":"500"}"#, "cents"),
        (r#"{"cents":500}"#, "{}", "cents"),
        (r#"{"cents":500}"#, r#"{"cents":null}"#, "cents"),
        (r#"{"name":"bob"}"#, r#"{"title":"bob"}"#, "name"),
        (r#"{"to":{"zip":1}}"#, r#"{"to":{"zip":2}}"#, "to.zip"),
        (r#"{"to":{}}"#, "{}", "to"),
        (r#"{"l":[{"n":1},{"n":2}]}"#, r#"{"l":[{"n":1},{"n":3}]}"#, "l[1].n"),
        (r#"{"l":[1,2]}"#, r#"{"l":[2,1]}"#, "l[0]"),
        (r#"{"l":[1,2]}"#, r#"{"l":[1,2,3]}"#, "l"),
        (r#"{"l":[null]}"#, r#"{"l":[]}"#, "l"),
        (r#"{"l":[1]}"#, r#"{"l":{"0":1}}"#, "l"),
        (r#"{"big":9007199254740993}"#, r#"{"big":9007199254740992.0}"#, "big"),
        (r#"{"b":1,"a":1}"#, r#"{"b":2,"a":2}"#, "a"),
        (r#"{"express":false}"#, r#"{"express":true}"#, "express"),
    ] {
        for refused in
            [irreversible(stored, &[read]), idempotent(stored, &[read]), listed(stored, &[read])]
        {
            assert_err!(refused, InvalidContract::OtherArguments { tool, place: found }
                if tool == "bank.pay" && found == place);
        }
    }
}

/// An idempotent call runs with arguments that its tool has added, and an irreversible one with
/// those that it lists.
#[test]
fn added_arguments_run_if_they_are_listed() {
    for (stored, read, added, list) in [
        (r#"{"cents":5}"#, r#"{"cents":5,"express":true}"#, "`express`", r#""express""#),
        (r#"{"to":{}}"#, r#"{"to":{"city":"Rome"}}"#, "`to.city`", r#""to.city""#),
        (
            r#"{"items":[{"id":1},{"id":2}]}"#,
            r#"{"items":[{"id":1,"gift":{}},{"id":2,"gift":{"n":1}}]}"#,
            "`items[].gift`",
            r#""items[].gift""#,
        ),
        (
            r#"{"rates":{"EUR":{"n":1},"a.b":{"n":2}}}"#,
            r#"{"rates":{"EUR":{"n":1,"unit":1},"a.b":{"n":2,"unit":10}}}"#,
            "`rates.EUR.unit`, `rates.a.b.unit`",
            r#""rates.EUR.unit", "rates.a.b.unit""#,
        ),
    ] {
        assert_err!(irreversible(stored, &[read]), InvalidContract::AddedArguments { added: found, listed, .. }
            if found == added && listed == list);
        assert_runs(&idempotent(stored, &[read]), stored);
        assert_runs(&listed(stored, &[read]), stored);
    }
    // The list to write has what is listed, too.
    let refused = listed("{}", &[r#"{"express":true,"slow":1,"to":{"city":2}}"#]);
    assert_err!(refused, InvalidContract::AddedArguments { added, listed, .. }
        if added == "`slow`, `to`"
            && listed == r#""express", "to.city", "items[].gift", "rates{}.unit", "slow", "to""#);
    // A path leads to one depth, and to whole names.
    let read = r#"{"expressed":1,"rates":{"EUR":{"units":2},"unit":3}}"#;
    assert_err!(listed(r#"{"rates":{"EUR":{}}}"#, &[read]), InvalidContract::AddedArguments { added, .. }
        if added == "`expressed`, `rates.EUR.units`, `rates.unit`");
}

/// Reads must agree with each other. A member that is null in one and absent in the next does not
/// differ.
#[test]
fn arguments_that_differ_each_time_are_refused() {
    for (stored, reads) in [
        ("{}", [r#"{"note":null}"#, "{}"]),
        (r#"{"note":null}"#, ["{}", r#"{"note":null}"#]),
        (r#"{"to":{"zip":1}}"#, [r#"{"to":{"zip":1}}"#, r#"{"to":{"zip":1,"city":null}}"#]),
    ] {
        assert_runs(&irreversible(stored, &reads), stored);
    }
    for (stored, reads) in [
        (r#"{"n":1}"#, [r#"{"n":1}"#, r#"{"n":2}"#]),
        (r#"{"n":1}"#, [r#"{"n":1}"#, r#"{"n":null}"#]),
        // A set.
        (r#"{"s":[1,2]}"#, [r#"{"s":[1,2]}"#, r#"{"s":[2,1]}"#]),
        (r#"{"l":[null]}"#, [r#"{"l":[null]}"#, r#"{"l":[]}"#]),
    ] {
        assert_err!(idempotent(stored, &reads), InvalidContract::Arguments { reason, .. }
            if reason.contains("they differ each time"));
    }
}

tool!(Weight { grams: f32, rate: f64 } = "post", "weigh", Irreversible);

/// What this program plans, it runs: numbers are exact.
#[test]
fn floats_are_the_same() {
    for (grams, rate) in [(0.1, 0.1), (1.0 / 3.0, 0.1 + 0.2), (f32::MAX, f64::MAX), (-0.0, 5e-324)]
    {
        let contract = Contract::of(&Weight { grams, rate }, reasoning_node()).unwrap();
        let planned = Planned::<Weight>::new(contract).unwrap();
        assert_eq!(planned.arguments(), &Weight { grams, rate });
    }
}

/// The same value: whole numbers with a point, and members that are null or absent.
fn reworded(value: &Value) -> Value {
    match value {
        Value::Number(number) => match number.as_i64().and_then(|it| i32::try_from(it).ok()) {
            Some(whole) => Value::from(f64::from(whole)),
            None => value.clone(),
        },
        Value::Array(items) => items.iter().map(reworded).collect(),
        Value::Object(members) => {
            let kept = members.iter().filter(|(_, member)| !member.is_null());
            let kept = kept.map(|(name, member)| (name.clone(), reworded(member)));
            kept.chain([("absent before".to_owned(), Value::Null)]).collect()
        }
        other => other.clone(),
    }
}

proptest! {
    /// The verdict, and the place that it names, are those of another comparison.
    #[test]
    fn the_verdict_is_that_of_the_oracle(
        arguments in objects(values()),
        other in objects(values()),
        chosen in any::<(Index, Index)>(),
        turn in 0..12_usize,
    ) {
        let stored = Value::from(arguments);
        let once = chosen.0.get(&changed(&stored)).clone();
        let twice = chosen.1.get(&changed(&once)).clone();
        let reads = [reworded(&stored), reworded(&twice), once, twice, other.into()];
        for (read, turn) in reads.into_iter().zip(turn..) {
            let texts = (written(&stored, turn), written(&read, turn + 1));
            let [stored, read] = [&texts.0, &texts.1].map(|text| serde_json::from_str(text).unwrap());
            let found = Differences::between(&stored, &read);
            for is_irreversible in [false, true] {
                let verdict = if is_irreversible { irreversible } else { idempotent };
                let verdict = verdict(&texts.0, &[&texts.1]).map_err(|error| error.to_string());
                match found.refusal(is_irreversible, &[]) {
                    None => prop_assert_eq!(verdict, Ok(()), "{} {}", stored, read),
                    Some(refusal) => {
                        let names_it = verdict.as_ref().is_err_and(|it| it.contains(&refusal));
                        prop_assert!(names_it, "{} {}: {:?}, {}", stored, read, verdict, refusal);
                    }
                }
            }
        }
    }
}
