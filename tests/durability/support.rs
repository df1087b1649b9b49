//! Helpers that several of these tests share.

use std::{collections::BTreeMap, path::Path};

use machine::{
    Id,
    contract::{AnyExecution, Liveness},
    journal::{Entry, Fact},
    store::{OpenOptions, Query, Store},
};

use crate::machines::AnyMeter;

pub(crate) use machine_tests::{
    service::{applied, not_applied, unknown},
    stores::{assert_intact, begun, block_on, lines, new_file, status, stored},
};

/// Runs a test in a separate process, because fail points concern every store of a process.
pub(crate) fn alone(name: &str, test: impl AsyncFnOnce()) {
    if machine_tests::is_alone(name) {
        block_on(test());
    }
}

/// Options that name the machines of these tests, so that verification knows their types.
pub(crate) fn options() -> OpenOptions {
    OpenOptions::new().machine::<AnyMeter>().machine::<AnyExecution>()
}

/// Checks a file by SQLite and the numbers of the journal, without the library.
pub(crate) fn assert_file_intact(file: &Path) {
    let raw = rusqlite::Connection::open(file).unwrap();
    let text = |sql: &str| -> String { raw.query_row(sql, [], |row| row.get(0)).unwrap() };
    let count = |sql: &str| -> i64 { raw.query_row(sql, [], |row| row.get(0)).unwrap() };
    assert_eq!(text("PRAGMA integrity_check"), "ok");
    let twice = "SELECT count(*) FROM (SELECT 1 FROM attempt WHERE hold = 2
                 GROUP BY space, key HAVING count(*) > 1)";
    assert_eq!(count(twice), 0, "a key has two applied attempts");
    let gaps = "SELECT count(*) FROM instance i WHERE version <> (
                SELECT count(*) FROM journal j WHERE j.instance = i.no)
                OR version <> (SELECT max(number) + 1 FROM journal j WHERE j.instance = i.no)";
    assert_eq!(count(gaps), 0, "the numbers of a journal have gaps");
    let sequence = "SELECT count(*) - coalesce(max(seq), 0) FROM journal";
    assert_eq!(count(sequence), 0, "the journal of the store has gaps");
}

/// Closes a store that is intact, and checks its file.
pub(crate) async fn closes_intact(store: &Store, file: &Path) {
    assert_intact(store).await;
    store.close().await.unwrap();
    assert_file_intact(file);
}

/// Exactly these machines are in the file, with these versions, and it is intact.
pub(crate) async fn has_exactly(file: &Path, versions: &BTreeMap<Id, u64>) {
    let store = options().sqlite(file).await.unwrap();
    let found = lines(&store, &Query::new()).await;
    let found: BTreeMap<Id, u64> = found.into_iter().map(|line| (line.id, line.version)).collect();
    assert_eq!(&found, versions);
    closes_intact(&store, file).await;
}

/// The journal of a machine in short.
pub(crate) async fn history(store: &Store, id: Id) -> Vec<String> {
    store.history(id).await.unwrap().entries.iter().map(in_short).collect()
}

/// An entry in short: the trigger and its payload, or the kind of fact and its text.
pub(crate) fn in_short(entry: &Entry) -> String {
    use machine::contract::{CallFact, Evidence};

    match &entry.fact {
        Fact::Created { .. } => "created".to_owned(),
        // The question that the library puts to a person.
        Fact::Moved { trigger, .. } if trigger == "suspend" => trigger.to_string(),
        Fact::Moved { trigger, payload, .. } => match payload.values().next() {
            Some(value) => format!("{trigger} {}", value.as_str().unwrap()),
            None => trigger.to_string(),
        },
        Fact::Fenced { .. } => "fenced".to_owned(),
        _ => match CallFact::of(entry).unwrap() {
            CallFact::Held { .. } => "held".to_owned(),
            CallFact::Permitted { .. } => "permitted".to_owned(),
            CallFact::Evidence { evidence: Evidence::Applied(text), .. } => {
                format!("applied {text}")
            }
            CallFact::Evidence { evidence: Evidence::NotApplied(text), .. } => {
                format!("not applied {text}")
            }
            CallFact::Evidence { evidence: Evidence::Unknown(_), .. } => "unknown".to_owned(),
            CallFact::Parked { worker: Liveness::Ended, .. } => "parked".to_owned(),
            CallFact::Parked { worker, .. } => format!("parked {worker:?}"),
            CallFact::WorkerEnded { .. } => "ended".to_owned(),
            CallFact::Closed { .. } => "closed".to_owned(),
            CallFact::Decided { approved: true, .. } => "approved".to_owned(),
            CallFact::Decided { .. } => "declined".to_owned(),
            CallFact::Confirmed { applied: true, reason, .. } => {
                format!("confirmed applied {reason}")
            }
            CallFact::Confirmed { applied: false, reason, .. } => {
                format!("confirmed not applied {reason}")
            }
            other => panic!("{other:?}"),
        },
    }
}

/// The entries of the journal after `begin`, `settle` with a receipt, and taking over.
pub(crate) const BEGUN: [&str; 3] = ["held", "start", "permitted"];
pub(crate) const PARKED: [&str; 4] = ["fenced", "unknown", "parked", "suspend"];
