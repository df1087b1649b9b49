//! The base: a job queue as one writes it by hand on SQLite. Claims raise a token, each step is
//! gated by it, and what is done at the same time is committed together.

use std::path::Path;

use rusqlite::{Connection, params};

pub struct Queue(Connection);

impl Queue {
    pub fn open(path: &Path) -> Self {
        let connection = Connection::open(path).unwrap();
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 10000;
                 CREATE TABLE IF NOT EXISTS job (id INTEGER PRIMARY KEY, state TEXT NOT NULL,
                     version INTEGER NOT NULL, token INTEGER NOT NULL, wake_at INTEGER) STRICT;
                 CREATE INDEX IF NOT EXISTS job_wake_at ON job (wake_at) WHERE wake_at IS NOT NULL;
                 CREATE TABLE IF NOT EXISTS journal (seq INTEGER PRIMARY KEY, job INTEGER NOT NULL,
                     fact TEXT NOT NULL) STRICT;
                 CREATE TABLE IF NOT EXISTS message (no INTEGER PRIMARY KEY, job INTEGER NOT NULL,
                     correlation TEXT NOT NULL, body TEXT NOT NULL, UNIQUE (job, correlation)) STRICT;",
            )
            .unwrap();
        Self(connection)
    }

    fn run(&self, sql: &str, values: impl rusqlite::Params) -> usize {
        self.0.prepare_cached(sql).unwrap().execute(values).unwrap()
    }

    pub fn fill(&self, jobs: usize) {
        self.run("BEGIN IMMEDIATE", []);
        for _ in 0..jobs {
            self.run("INSERT INTO job (state, version, token, wake_at) VALUES ('', 0, 0, 1)", []);
        }
        self.run("COMMIT", []);
    }

    /// Takes so many jobs at a time, and does their three steps, until there are none.
    pub fn work(&self, at_once: usize) {
        loop {
            let mut select = self
                .0
                .prepare_cached(
                    "SELECT id, token FROM job WHERE wake_at <= 1 ORDER BY wake_at LIMIT ?1",
                )
                .unwrap();
            let found = select
                .query_map([i64::try_from(at_once).unwrap()], |row| Ok((row.get(0)?, row.get(1)?)));
            let found: Vec<(i64, i64)> = found.unwrap().map(Result::unwrap).collect();
            if found.is_empty() {
                return;
            }
            self.run("BEGIN IMMEDIATE", []);
            let mut claimed = found;
            claimed.retain(|(id, token)| {
                let claim = "UPDATE job SET token = token + 1, wake_at = 1000000
                             WHERE id = ?1 AND token = ?2";
                self.run(claim, [id, token]) == 1
            });
            self.run("COMMIT", []);
            for step in 1..=3 {
                self.run("BEGIN IMMEDIATE", []);
                for (id, token) in &claimed {
                    let state = if step == 3 { String::new() } else { "x".repeat(256) };
                    let fact = format!(r#"{{"kind":"moved","to":"{step}","text":"{state}"}}"#);
                    let wake_at = if step == 3 { None } else { Some(1_000_000) };
                    let update = "UPDATE job SET state = ?3, version = version + 1, wake_at = ?4
                                  WHERE id = ?1 AND token = ?2 + 1";
                    assert_eq!(self.run(update, params![id, token, state, wake_at]), 1);
                    self.run("INSERT INTO journal (job, fact) VALUES (?1, ?2)", params![id, fact]);
                }
                self.run("COMMIT", []);
            }
        }
    }

    /// A message, and the claim that it causes.
    pub fn message_and_claim(&self) {
        self.run("BEGIN IMMEDIATE", []);
        let body = r#"{"trigger":"wake"}"#;
        let insert = "INSERT INTO message (job, correlation, body)
                      VALUES (1, (SELECT count(*) FROM message), ?1)";
        self.run(insert, [body]);
        self.run("UPDATE job SET wake_at = 1 WHERE id = 1", []);
        self.run("COMMIT", []);
        self.run("BEGIN IMMEDIATE", []);
        self.run("UPDATE job SET token = token + 1, wake_at = 1000000 WHERE id = 1", []);
        self.run("COMMIT", []);
    }
}
