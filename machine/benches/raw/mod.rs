//! The base: what a program writes by hand that keeps its workflows in SQLite. A row for each
//! workflow with its state as JSON, a journal of what happened, a compare-and-set on the version.

use std::{
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

use async_channel::Sender;
use futures_channel::oneshot;
use rusqlite::{Connection, params};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};

pub struct Raw {
    connection: Connection,
}

static NUMBER: AtomicU64 = AtomicU64::new(0);

const CONTEXT: &str = r#"{"action":{"action_type":"ecs_request","action_detail":{"message":"Deploy to production?","type":"confirmation"}},"summary":"ecs.confirm","effect":"idempotent","irreversible":false}"#;

/// The context as such a program reads it, without checks.
#[derive(Deserialize)]
#[allow(dead_code, reason = "it is read, and not used")]
pub struct Terms {
    action: Action,
    summary: String,
    effect: String,
    irreversible: bool,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "it is read, and not used")]
struct Action {
    action_type: String,
    action_detail: Map<String, Value>,
}

/// One commit of the workflow.
pub struct Step {
    id: String,
    version: i64,
    status: &'static str,
    state: String,
    fact: String,
}

/// The commits of one workflow.
pub fn steps(payload: &str) -> [Step; 5] {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let id = format!("01890a5d-ac96-774b-bcce-{number:012}");
    let moved = |from: &str, to: &str, trigger: &str, data: &str| {
        format!(
            r#"{{"actor":"ecs_node","by":"bench","at":1764000000000,"from":"{from}","kind":"moved","payload":{data},"to":"{to}","trigger":"{trigger}"}}"#
        )
    };
    let prompt = format!(r#"{{"prompt":"{payload}"}}"#);
    let result = format!(r#"{{"result":"{payload}"}}"#);
    let created = r#"{"actor":"reasoning","by":"bench","at":1764000000000,"kind":"created","machine":"execution","state":"pending"}"#;
    let step = |version, status, state: &str, fact| Step {
        id: id.clone(),
        version,
        status,
        state: state.to_owned(),
        fact,
    };
    [
        step(0, "pending", "null", created.to_owned()),
        step(1, "running", "null", moved("pending", "running", "start", "{}")),
        step(2, "waiting", &prompt, moved("running", "waiting", "suspend", &prompt)),
        step(3, "running", "null", moved("waiting", "running", "resume", "{}")),
        step(4, "completed", &result, moved("running", "completed", "succeed", &result)),
    ]
}

impl Raw {
    pub fn open(path: &Path) -> Self {
        let connection = Connection::open(path).unwrap();
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
                 CREATE TABLE instance (id TEXT PRIMARY KEY, status TEXT NOT NULL,
                     state TEXT NOT NULL, context TEXT NOT NULL, version INTEGER NOT NULL) STRICT;
                 CREATE TABLE journal (seq INTEGER PRIMARY KEY AUTOINCREMENT, instance TEXT NOT NULL,
                     number INTEGER NOT NULL, fact TEXT NOT NULL, UNIQUE (instance, number)) STRICT;",
            )
            .unwrap();
        Self { connection }
    }

    pub fn execute(&self, payload: &str) {
        for step in steps(payload) {
            self.run("BEGIN IMMEDIATE");
            self.step(&step);
            self.run("COMMIT");
        }
    }

    fn run(&self, sql: &str) {
        self.connection.prepare_cached(sql).unwrap().execute([]).unwrap();
    }

    fn step(&self, step: &Step) {
        let Step { id, version, status, state, fact } = step;
        let connection = &self.connection;
        if *version == 0 {
            let mut insert = connection
                .prepare_cached("INSERT INTO instance VALUES (?1, ?2, ?3, ?4, 0)")
                .unwrap();
            insert.execute(params![id, status, state, CONTEXT]).unwrap();
        } else {
            let mut update = connection
                .prepare_cached(
                    "UPDATE instance SET status = ?3, state = ?4, version = ?2
                     WHERE id = ?1 AND version = ?2 - 1",
                )
                .unwrap();
            assert_eq!(update.execute(params![id, version, status, state]).unwrap(), 1);
        }
        connection
            .prepare_cached("INSERT INTO journal (instance, number, fact) VALUES (?1, ?2, ?3)")
            .unwrap()
            .execute(params![id, version, fact])
            .unwrap();
    }

    /// Stores workflows that wait.
    pub fn suspended(&mut self, count: usize, payload: &str) {
        self.run("BEGIN IMMEDIATE");
        for _ in 0..count {
            for step in &steps(payload)[..3] {
                self.step(step);
            }
        }
        self.run("COMMIT");
    }

    /// One SELECT, and serde.
    pub fn load<S: DeserializeOwned, C: DeserializeOwned>(&self) -> Vec<(String, S, C)> {
        let mut select = self
            .connection
            .prepare_cached("SELECT id, state, context FROM instance WHERE status = 'waiting'")
            .unwrap();
        let mut rows = select.query([]).unwrap();
        let mut loaded = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            let state = serde_json::from_str(row.get_ref(1).unwrap().as_str().unwrap()).unwrap();
            let context = serde_json::from_str(row.get_ref(2).unwrap().as_str().unwrap()).unwrap();
            loaded.push((row.get(0).unwrap(), state, context));
        }
        loaded
    }

    /// Everything in one file.
    pub fn close(self) {
        self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    }
}

/// The same statements on a thread that commits what is queued together.
#[derive(Clone)]
pub struct GroupCommit(Sender<(Step, oneshot::Sender<()>)>);

impl GroupCommit {
    pub fn start(raw: Raw) -> Self {
        let (jobs, inbox) = async_channel::bounded::<(Step, oneshot::Sender<()>)>(1024);
        thread::spawn(move || {
            while let Ok(first) = inbox.recv_blocking() {
                let mut group = vec![first];
                while group.len() < 256 {
                    let Ok(job) = inbox.try_recv() else { break };
                    group.push(job);
                }
                raw.run("BEGIN IMMEDIATE");
                for (step, _) in &group {
                    raw.step(step);
                }
                raw.run("COMMIT");
                for (_, answer) in group {
                    let _ = answer.send(());
                }
            }
        });
        Self(jobs)
    }

    pub async fn execute(&self, payload: &str) {
        for step in steps(payload) {
            let (answer, done) = oneshot::channel();
            self.0.send((step, answer)).await.unwrap();
            done.await.unwrap();
        }
    }
}
