//! Stored bytes and digests do not depend on the features of `serde_json` that other crates of a
//! program enable. The tests run twice: as they are, and with `--features odd-json`, which enables
//! `arbitrary_precision` and `preserve_order`.

use std::time::Duration;

use machine::{
    Id,
    contract::{AnyExecution, Contract, ToolSpec, execution},
    machine,
    store::Store,
    stored::{Context, Unverified},
};
use machine_tests::{
    actors::{reasoning_node, tool_node},
    forge,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Limits {
    most: u64,
    share: f64,
}

impl Context for Limits {
    type Summary = u64;

    fn fold(
        &self,
        summary: &mut u64,
        _entry: &machine::journal::Entry,
    ) -> Result<(), machine::stored::Breach> {
        *summary += 1;
        Ok(())
    }
}

#[machine(durable, context = Limits)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Meter {
    #[initial]
    #[on(read(count, change, share, raw) => Read)]
    Unread,
    #[terminal]
    Read { count: u64, change: i64, share: f64, raw: Value },
}

/// Numbers in every form that JSON has, and keys out of order.
const RAW: &str = r#"{"z": 1.0, "a": 100, "e": 1e2, "neg": -0, "zero": 0.0, "max": 18446744073709551615,
    "huge": 123456789012345678901234567890, "min": -9223372036854775808, "tenth": 0.1,
    "long": 0.30000000000000004, "list": [3, 1.50, {"y": 1E-7, "b": null}]}"#;

fn read() -> AnyMeter {
    let limits = Limits { most: u64::MAX, share: 0.1 };
    let raw = serde_json::from_str(RAW).unwrap();
    Meter::new(limits).read(u64::MAX, i64::MIN, 0.1 + 0.2, raw).into()
}

/// A call with these numbers.
fn set() -> Contract {
    let tool = ToolSpec::irreversible("meter", "set").unwrap();
    let contract = Contract::tool_call(&tool, RAW, reasoning_node()).unwrap();
    contract.timeout_after(Duration::from_secs(7))
}

/// A record that was written without the features is the same record with them.
#[test]
fn a_record_of_another_program_is_verified() {
    let text = include_str!("fixtures/numbers.json");
    let claim: Unverified = serde_json::from_str(text).unwrap();
    let AnyMeter::Read(meter) = claim.verify::<AnyMeter>().unwrap() else { panic!("not read") };
    assert_eq!(meter.context().most, u64::MAX);
    assert_eq!(meter.state().count, u64::MAX);
    assert_eq!(meter.state().change, i64::MIN);
    assert!((meter.state().share - (0.1 + 0.2)).abs() < f64::EPSILON);
}

/// The other way round, within one program.
#[test]
fn a_record_is_verified_after_a_round_trip() {
    let text = serde_json::to_string(&read()).unwrap();
    if std::env::var_os("MACHINE_WRITE_FIXTURES").is_some() {
        std::fs::write("stored/fixtures/numbers.json", &text).unwrap();
    }
    let claim: Unverified = serde_json::from_str(&text).unwrap();
    assert!(matches!(claim.verify::<AnyMeter>().unwrap(), AnyMeter::Read(_)));
}

#[test]
fn an_event_with_numbers_is_read_back() {
    let event = meter::Event::Read {
        count: u64::MAX,
        change: -1,
        share: 0.25,
        raw: serde_json::from_str(RAW).unwrap(),
    };
    let text = serde_json::to_string(&event).unwrap();
    let read: meter::Event = serde_json::from_str(&text).unwrap();
    let meter::Event::Read { count, change, share, raw } = &read;
    assert_eq!((*count, *change, *share), (u64::MAX, -1, 0.25));
    // The numbers have their plain form, which stays as it is.
    assert_eq!(raw["list"][1].to_string(), "1.5");
    let again = serde_json::to_string(&read).unwrap();
    assert_eq!(serde_json::from_str::<meter::Event>(&again).unwrap(), read);
    let event = execution::Event::Succeed { result: "1".to_owned() };
    let text = serde_json::to_string(&event).unwrap();
    assert_eq!(serde_json::from_str::<execution::Event>(&text).unwrap(), event);
}

/// The digest of an action is part of keys and permits, so it is pinned.
#[test]
fn the_digest_of_an_action_is_fixed() {
    let contract = set();
    assert_eq!(contract.action().digest().to_string(), include_str!("fixtures/action.txt").trim());
    let claim = forge::claim(&machine::contract::Execution::new(contract.clone()));
    let read: AnyExecution = claim.verify().unwrap();
    assert_eq!(read.context(), &contract);
}

#[tokio::test]
async fn stores_read_back_what_they_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let file = Store::sqlite(folder.path().join("meters.db")).await.unwrap();
    for store in [Store::memory(), file] {
        let mut meter = read();
        store.create(&mut meter).await.unwrap();
        let id: Id = meter.id();
        let AnyMeter::Read(loaded) = store.load(id).await.unwrap() else { panic!("not read") };
        assert_eq!(loaded.state().count, u64::MAX);
        store.verify::<AnyMeter>(id).await.unwrap();
        let mut pending = machine::contract::Execution::new(set());
        store.create(&mut pending).await.unwrap();
        let (running, permit) = store.begin(pending, tool_node()).await.unwrap();
        store.load::<AnyExecution>(running.id()).await.unwrap();
        drop(permit);
        assert_eq!(store.recover().await.unwrap().in_doubt.len(), 1);
        assert!(store.verify_all(|_| {}).await.unwrap().is_clean());
    }
}
