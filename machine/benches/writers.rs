//! Processes that write to one file at the same time: how many commits they make, and how long one
//! waits for its turn.
//!
//! `cargo bench --package machine --bench writers`. The base is raw SQLite, which waits with its
//! own busy handler. `SECONDS` sets how long each side writes (default 10).

#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::print_stdout)]

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use machine::{machine, store::Store};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

const PROCESSES: usize = 4;

/// What a child is to do, and in which file.
const SIDE: &str = "WRITERS_SIDE";
const FILE: &str = "WRITERS_FILE";

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
pub enum Counter {
    #[initial]
    #[on(count(text) => Counting)]
    Counting { text: String },
}

fn main() {
    match std::env::var(SIDE).as_deref() {
        Ok("ours") => ours(&file()),
        Ok(_) => raw(&file()),
        Err(_) => {
            let (ours, base) = (compete("ours"), compete("raw"));
            println!("ratio writers_4_processes {:.2}", base.0 / ours.0);
            println!("ratio writers_4_processes_longest_wait {:.2}", ours.1 / base.1);
        }
    }
}

fn file() -> PathBuf {
    std::env::var_os(FILE).unwrap().into()
}

fn time() -> Duration {
    Duration::from_secs(std::env::var("SECONDS").map_or(10, |text| text.parse().unwrap()))
}

fn text() -> String {
    "x".repeat(256)
}

/// Commits per second of all processes, and the longest wait in milliseconds.
fn compete(side: &str) -> (f64, f64) {
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.env(SIDE, side).env(FILE, folder.path().join("agent.db"));
        child.stdout(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..PROCESSES).map(|_| start()).collect();
    let mut commits = 0.0;
    let mut longest: f64 = 0.0;
    for child in children {
        let said = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
        let numbers: Vec<f64> = said.split_whitespace().map(|it| it.parse().unwrap()).collect();
        commits += numbers[0];
        longest = longest.max(numbers[1]);
    }
    let rate = commits / time().as_secs_f64();
    println!("{side}: {rate:.0} commits/s, longest wait {longest:.0} ms");
    (rate, longest)
}

/// Writes until the time is over. A write that finds the file busy is tried again, and its wait
/// goes on.
fn write(mut commit: impl FnMut() -> bool) {
    let (end, mut commits, mut longest) = (Instant::now() + time(), 0, Duration::ZERO);
    while Instant::now() < end {
        let start = Instant::now();
        while !commit() {}
        longest = longest.max(start.elapsed());
        commits += 1;
    }
    println!("{commits} {}", longest.as_millis());
}

fn ours(file: &Path) {
    let store = loop {
        if let Ok(store) = pollster::block_on(Store::sqlite(file)) {
            break store;
        }
    };
    write(|| {
        let mut counter = Counter::new(text());
        pollster::block_on(store.create(&mut counter)).is_ok()
    });
}

/// Two inserts in each transaction, as a machine and its first entry.
fn raw(file: &Path) {
    let connection = Connection::open(file).unwrap();
    connection.busy_timeout(Duration::from_secs(5)).unwrap();
    let schema = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
        CREATE TABLE IF NOT EXISTS machine(no INTEGER PRIMARY KEY, state TEXT NOT NULL);
        CREATE TABLE IF NOT EXISTS journal(no INTEGER PRIMARY KEY, fact TEXT NOT NULL);";
    while connection.execute_batch(schema).is_err() {}
    write(|| {
        if connection.execute_batch("BEGIN IMMEDIATE").is_err() {
            return false;
        }
        connection.execute("INSERT INTO machine(state) VALUES(?1)", [text()]).unwrap();
        connection.execute("INSERT INTO journal(fact) VALUES(?1)", [text()]).unwrap();
        connection.execute_batch("COMMIT").unwrap();
        true
    });
}
