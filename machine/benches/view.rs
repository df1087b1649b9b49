//! The cost of views of stored machines, against reading the same rows of the same file:
//! `ratio NAME VALUE` lines, the time of ours over theirs.
//!
//! `cargo bench --package machine --bench view`, or `-- NAME` for one of them.

#![allow(missing_docs, unreachable_pub, clippy::unwrap_used)]

mod harness;

use std::{hint::black_box, path::Path, sync::LazyLock};

use harness::ratio;
use machine::{
    actor::Actors,
    contract::{Contract, Execution, ToolSpec, execution::Running},
    observe::Observer,
    store::{Query, Store},
    view::{Diagnostic, Human},
};
use rusqlite::{Connection, types::ValueRef};
use tokio::runtime::{Builder, Runtime};

static ACTORS: LazyLock<Actors> = LazyLock::new(|| Actors::issue("bench").unwrap());

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    let wants = |name: &str| {
        arguments.is_empty() || arguments.iter().any(|wanted| wanted == name || wanted == "once")
    };
    if wants("view_contracts") {
        contracts();
    }
    // 10,000 transitions of a session: of many executions, and of few with a long history.
    if wants("view_session") {
        session("view_session", 2_000, 2, false);
    }
    if wants("view_session_long") {
        session("view_session_long", 20, 249, true);
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().build().unwrap()
}

fn running(number: usize) -> Execution<Running> {
    let tool = ToolSpec::idempotent("files", "read").unwrap();
    let arguments = format!(r#"{{"path": "notes/{number}.txt"}}"#);
    let contract = Contract::tool_call(&tool, &arguments, &ACTORS.reasoning_node).unwrap();
    let path = format!("notes/{number}.txt");
    Execution::new(contract.about(&path).session("bench")).start(&ACTORS.tool_node)
}

/// Executions with `1 + 2 * rounds` transitions, and one more if they are done.
fn file(path: &Path, runtime: &Runtime, executions: usize, rounds: usize, done: bool) -> Store {
    let store = runtime.block_on(Store::sqlite(path)).unwrap();
    for numbers in (0..executions).collect::<Vec<_>>().chunks(500) {
        let machines = numbers.iter().map(|number| {
            let mut machine = running(*number);
            for _ in 0..rounds {
                let waiting = machine.suspend("which one?".to_owned(), &ACTORS.ecs_node);
                machine = waiting.resume(&ACTORS.graph_runner);
            }
            machine
        });
        let mut running: Vec<_> = Vec::new();
        let mut ended: Vec<_> = Vec::new();
        for machine in machines {
            if done {
                ended.push(machine.succeed("12 lines".to_owned(), &ACTORS.tool_node));
            } else {
                running.push(machine);
            }
        }
        let mut batch = store.batch();
        for machine in &mut running {
            batch = batch.create(machine);
        }
        for machine in &mut ended {
            batch = batch.create(machine);
        }
        runtime.block_on(batch.write()).unwrap();
    }
    store
}

/// Reads every column of every row, as one who needs them does: texts and blobs are copied.
fn select(connection: &Connection, sql: &str) -> usize {
    let mut select = connection.prepare_cached(sql).unwrap();
    let columns = select.column_count();
    let mut rows = select.query([]).unwrap();
    let mut read = 0;
    while let Some(row) = rows.next().unwrap() {
        for column in 0..columns {
            match row.get_ref(column).unwrap() {
                ValueRef::Text(text) => drop(black_box(String::from_utf8(text.to_vec()).unwrap())),
                ValueRef::Blob(blob) => drop(black_box(blob.to_vec())),
                other => _ = black_box(other),
            }
        }
        read += 1;
    }
    read
}

const ROWS: &str =
    "SELECT i.id, i.definition, i.status, i.version, i.epoch, i.created_at, i.updated_at,
        i.due_at, i.session, i.key, i.behind, i.newest, i.commit_id, i.seal, i.summary, i.state,
        c.body, j.digest
    FROM instance i JOIN context c ON c.instance = i.no
        JOIN journal j ON j.instance = i.no AND j.number = i.version - 1
    ORDER BY i.no";

/// The views of 10,000 contracts, as a list in pages.
fn contracts() {
    const CONTRACTS: usize = 10_000;
    let folder = tempfile::tempdir().unwrap();
    let (runtime, path) = (runtime(), folder.path().join("agent.db"));
    let observer = Observer::new(&file(&path, &runtime, CONTRACTS, 0, true));
    let connection = Connection::open(&path).unwrap();
    ratio(
        "view_contracts",
        10,
        || {
            let mut query = Query::new().session("bench").limit(1000);
            let mut seen = 0;
            loop {
                let page = runtime.block_on(observer.list::<Human>(&query)).unwrap();
                seen += page.items.iter().flatten().count();
                match page.next {
                    Some(next) => query = query.after(next),
                    None => break,
                }
            }
            assert_eq!(seen, CONTRACTS);
        },
        || assert_eq!(select(&connection, ROWS), CONTRACTS),
    );
}

/// The timeline of a session, against its journal and its rows.
fn session(name: &str, executions: usize, rounds: usize, done: bool) {
    let folder = tempfile::tempdir().unwrap();
    let (runtime, path) = (runtime(), folder.path().join("agent.db"));
    let observer = Observer::new(&file(&path, &runtime, executions, rounds, done));
    let transitions = executions * (1 + 2 * rounds + usize::from(done));
    let connection = Connection::open(&path).unwrap();
    let journal =
        "SELECT j.number, j.at, j.definition, j.actor, j.kind, j.edge, j.body, j.digest, i.id
        FROM instance i JOIN journal j ON j.instance = i.no
        WHERE i.session = 'bench' ORDER BY i.no, j.number";
    ratio(
        name,
        20,
        || {
            let timeline = runtime.block_on(observer.session::<Diagnostic>("bench")).unwrap();
            assert_eq!((timeline.total_contracts, timeline.unreadable), (executions, 0));
            assert_eq!(timeline.transitions.len(), transitions);
        },
        || {
            assert_eq!(select(&connection, ROWS), executions);
            assert_eq!(select(&connection, journal), transitions + executions);
        },
    );
}
