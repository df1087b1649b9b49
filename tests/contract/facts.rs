//! The facts of an irreversible call, as its journal has them.

use std::time::Duration;

use machine::{
    contract::{CallFact, Evidence, Settled},
    journal::Fact,
    store::Store,
};
use machine_tests::actors::tool_node;
use machine_tests::samples::{mail, receipt};
use machine_tests::stores::{begun, stored};
use serde_json::{Value, json};

/// Held, permitted, and the evidence, in this order, with the names that other programs read.
#[tokio::test]
async fn a_call_is_written_down() {
    let store = Store::memory();
    let contract = mail("bob").timeout_after(Duration::from_secs(30));
    let key = contract.idempotency_key().unwrap().to_string();
    let digest = contract.action().digest();
    let pending = stored(&store, contract).await;
    let id = pending.id();
    let before = machine::clock::now();
    let (running, permit) = store.begin(pending, tool_node()).await.unwrap();
    let outcome = permit.call(receipt("250 queued")).await;
    let settled = store.settle(running, outcome, tool_node()).await.unwrap();
    assert!(matches!(settled, Settled::Completed(_)));

    let history = store.history(id).await.unwrap();
    let facts: Vec<CallFact> = history.entries.iter().filter_map(CallFact::of).collect();
    let [held, permitted, evidence] = facts.as_slice() else { panic!("{facts:?}") };
    assert_eq!(held, &CallFact::Held { key: key.clone() });
    let CallFact::Permitted {
        worker,
        process,
        epoch: 0,
        action,
        expires_at,
        approved_by: None,
        callback: None,
    } = permitted
    else {
        panic!("{permitted:?}")
    };
    assert_eq!(action, &digest);
    assert_eq!(process.pid, std::process::id());
    assert!((before + 30_000..before + 60_000).contains(expires_at), "{expires_at}");
    let applied = Evidence::Applied("250 queued".to_owned());
    assert_eq!(evidence, &CallFact::Evidence { epoch: 0, evidence: applied, late: false });

    let recorded: Vec<Value> = history
        .entries
        .iter()
        .filter(|entry| matches!(entry.fact, Fact::Recorded { .. }))
        .map(|entry| {
            assert_eq!(entry.actor.as_deref(), Some("tool_node"));
            assert_eq!(entry.by.as_deref(), Some("test"));
            serde_json::to_value(&entry.fact).unwrap()
        })
        .collect();
    let fact = |data: Value| json!({ "recorded": { "name": "contract", "data": data } });
    let permitted = json!({
        "worker": worker, "process": process, "epoch": 0, "action": digest,
        "expires_at": expires_at,
    });
    assert_eq!(
        recorded,
        [
            fact(json!({ "held": { "key": key } })),
            fact(json!({ "permitted": permitted })),
            fact(json!({ "evidence": { "epoch": 0, "evidence": { "applied": "250 queued" } } })),
        ]
    );
}

/// A creation, a transition and a fact of another module are not about a call.
#[tokio::test]
async fn other_entries_are_not_about_a_call() {
    let store = Store::memory();
    let (running, permit) = begun(&store, mail("bob")).await;
    drop(permit);
    let history = store.history(running.id()).await.unwrap();
    for entry in &history.entries {
        let about_a_call = matches!(entry.fact, Fact::Recorded { .. });
        assert_eq!(CallFact::of(entry).is_some(), about_a_call, "{entry:?}");
    }
    let held = json!({ "held": { "key": "k" } });
    for (name, data, found) in [
        ("contract", held.clone(), true),
        ("contracts", held, false),
        ("contract", json!({ "held": {} }), false),
        ("contract", json!("held"), false),
    ] {
        let mut entry = serde_json::to_value(&history.entries[1]).unwrap();
        entry["fact"] = json!({ "recorded": { "name": name, "data": data } });
        let entry = serde_json::from_value(entry).unwrap();
        assert_eq!(CallFact::of(&entry).is_some(), found, "{entry:?}");
    }
}
