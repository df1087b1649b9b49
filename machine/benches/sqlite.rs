//! The cost of durability, compared to raw SQLite that writes the same data with the same
//! durability (DESIGN 8).
//!
//! `cargo bench --package machine --bench sqlite`

#![allow(missing_docs, unreachable_pub, clippy::unwrap_used)]

mod harness;

use std::path::Path;

use harness::ratio;
use machine::{
    actor::{EcsNode, GraphRunner, ReasoningNode},
    contract::{AnyExecution, Contract, Execution, execution::Running},
    store::SqliteStore,
};
use rusqlite::{Connection, params};

const TRANSITIONS: usize = 20;
const SUSPENDED: usize = 2_000;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let store = SqliteStore::open(folder.path().join("ours.db")).unwrap();
    let raw = raw(&folder.path().join("raw.db"));

    let mut number = 0;
    ratio(
        "sqlite_transition_1_client_vs_raw",
        60,
        || {
            runtime.block_on(async {
                let mut running = fresh();
                store.create(&mut running).await.unwrap();
                for _ in 0..TRANSITIONS / 2 {
                    let mut waiting = running.suspend("sure?".to_owned(), &EcsNode);
                    store.commit(&mut waiting).await.unwrap();
                    running = waiting.resume(&GraphRunner);
                    store.commit(&mut running).await.unwrap();
                }
            });
        },
        || {
            number += 1;
            let id = format!("{number:036}");
            insert(&raw, &id);
            for version in 1..=TRANSITIONS {
                advance(&raw, &id, version);
            }
        },
    );

    runtime.block_on(async {
        for _ in 0..SUSPENDED {
            let mut waiting = fresh().suspend("sure?".to_owned(), &EcsNode);
            store.create(&mut waiting).await.unwrap();
        }
    });
    let listed = runtime.block_on(store.list(None)).unwrap();
    let waiting: Vec<_> =
        listed.iter().filter(|line| line.status == "waiting").map(|line| line.id).collect();
    let same = Connection::open(folder.path().join("ours.db")).unwrap();
    ratio(
        "load_suspended_verified_vs_raw_select_serde",
        5,
        || {
            runtime.block_on(async {
                for id in &waiting {
                    let loaded: AnyExecution = store.load(*id).await.unwrap();
                    assert!(matches!(loaded, AnyExecution::Waiting(_)));
                }
            });
        },
        || {
            for id in &waiting {
                select(&same, &id.to_string());
            }
        },
    );
}

fn fresh() -> Execution<Running> {
    let contract = Contract::ecs_request("Deploy to production?", &ReasoningNode).unwrap();
    Execution::new(contract).start(&EcsNode)
}

/// The tables of the store, without secondary indexes.
fn raw(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             CREATE TABLE instance (id TEXT PRIMARY KEY, status TEXT, state TEXT, context TEXT,
                 version INTEGER) STRICT, WITHOUT ROWID;
             CREATE TABLE journal (seq INTEGER PRIMARY KEY AUTOINCREMENT, instance TEXT,
                 number INTEGER, fact TEXT, UNIQUE (instance, number)) STRICT;",
        )
        .unwrap();
    connection
}

const CONTEXT: &str = r#"{"action_detail":{"message":"Deploy?","type":"confirmation"}}"#;
const FACT: &str = r#"{"from":"running","kind":"moved","payload":{"prompt":"sure?"},"to":"waiting","trigger":"suspend"}"#;

fn insert(connection: &Connection, id: &str) {
    connection
        .execute("INSERT INTO instance VALUES (?1, 'running', 'null', ?2, 0)", params![id, CONTEXT])
        .unwrap();
}

/// The same two statements, at the same durability.
fn advance(connection: &Connection, id: &str, version: usize) {
    let version = i64::try_from(version).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    connection
        .prepare_cached(
            "UPDATE instance SET status = 'waiting', state = ?3, version = ?2
             WHERE id = ?1 AND version = ?2 - 1",
        )
        .unwrap()
        .execute(params![id, version, r#"{"prompt":"sure?"}"#])
        .unwrap();
    connection
        .prepare_cached("INSERT INTO journal (instance, number, fact) VALUES (?1, ?2, ?3)")
        .unwrap()
        .execute(params![id, version, FACT])
        .unwrap();
    connection.execute_batch("COMMIT").unwrap();
}

/// The same rows, parsed but not verified.
fn select(connection: &Connection, id: &str) {
    let (state, context): (String, String) = connection
        .prepare_cached("SELECT state, context FROM instance WHERE id = ?1")
        .unwrap()
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    let state: serde_json::Value = serde_json::from_str(&state).unwrap();
    let context: serde_json::Value = serde_json::from_str(&context).unwrap();
    let mut select = connection
        .prepare_cached("SELECT fact FROM journal WHERE instance = ?1 ORDER BY number")
        .unwrap();
    let facts = select.query_map([id], |row| row.get::<_, String>(0)).unwrap();
    let facts: Vec<serde_json::Value> =
        facts.map(|fact| serde_json::from_str(&fact.unwrap()).unwrap()).collect();
    std::hint::black_box((state, context, facts));
}
