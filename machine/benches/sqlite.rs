//! The cost of durability, against raw SQLite that stores the same data at the same durability
//! (DESIGN 9): `ratio NAME VALUE` lines, ours over theirs in time or bytes.
//!
//! `cargo bench --package machine --bench sqlite`, or `-- NAME` for one of them.

#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::print_stdout)]

mod harness;
mod raw;

use std::{path::Path, sync::LazyLock, time::Instant};

use harness::ratio;
use machine::{
    Id,
    actor::Actors,
    contract::{
        AnyExecution, Contract, Execution,
        execution::{Pending, Waiting},
    },
    store::{Query, Store},
};
use raw::{GroupCommit, Raw, Terms};
use tokio::runtime::{Builder, Runtime};

/// The payload of a transition, in bytes.
const PAYLOAD: usize = 256;

static ACTORS: LazyLock<Actors> = LazyLock::new(|| Actors::issue("bench").unwrap());

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    let wants = |name: &str| arguments.is_empty() || arguments.iter().any(|wanted| wanted == name);
    if wants("sqlite_1_client") {
        one_client();
    }
    if wants("sqlite_16_clients") {
        sixteen_clients();
    }
    if wants("sqlite_bytes") {
        bytes();
    }
    if wants("sqlite_load") {
        load();
    }
    if wants("sqlite_resume_growth") {
        resume_growth();
    }
    if wants("sqlite_million") {
        million();
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().build().unwrap()
}

fn text() -> String {
    "x".repeat(PAYLOAD)
}

fn fresh() -> Execution<Pending> {
    let author = &ACTORS.reasoning_node;
    Execution::new(Contract::ecs_request("Deploy to production?", author).unwrap())
}

fn waiting() -> Execution<Waiting> {
    fresh().start(&ACTORS.ecs_node).suspend(text(), &ACTORS.ecs_node)
}

/// Create, start, suspend, resume, succeed, a commit each.
async fn execute(store: &Store) -> Id {
    let mut pending = fresh();
    store.create(&mut pending).await.unwrap();
    let mut running = pending.start(&ACTORS.ecs_node);
    store.commit(&mut running).await.unwrap();
    let mut waiting = running.suspend(text(), &ACTORS.ecs_node);
    store.commit(&mut waiting).await.unwrap();
    let mut running = waiting.resume(&ACTORS.graph_runner);
    store.commit(&mut running).await.unwrap();
    let mut completed = running.succeed(text(), &ACTORS.ecs_node);
    store.commit(&mut completed).await.unwrap();
    completed.id()
}

fn one_client() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime();
    let store = runtime.block_on(Store::sqlite(folder.path().join("ours.db"))).unwrap();
    let raw = Raw::open(&folder.path().join("raw.db"));
    ratio(
        "sqlite_1_client",
        200,
        || {
            runtime.block_on(execute(&store));
        },
        || raw.execute(&text()),
    );
}

const CLIENTS: usize = 16;
const EACH: usize = 8;

fn sixteen_clients() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime();
    let store = runtime.block_on(Store::sqlite(folder.path().join("ours.db"))).unwrap();
    let raw = GroupCommit::start(Raw::open(&folder.path().join("raw.db")));
    ratio(
        "sqlite_16_clients",
        60,
        || {
            runtime.block_on(async {
                let tasks = (0..CLIENTS).map(|_| {
                    let store = store.clone();
                    tokio::spawn(async move {
                        for _ in 0..EACH {
                            execute(&store).await;
                        }
                    })
                });
                for task in tasks.collect::<Vec<_>>() {
                    task.await.unwrap();
                }
            });
        },
        || {
            runtime.block_on(async {
                let tasks = (0..CLIENTS).map(|_| {
                    let raw = raw.clone();
                    tokio::spawn(async move {
                        for _ in 0..EACH {
                            raw.execute(&text()).await;
                        }
                    })
                });
                for task in tasks.collect::<Vec<_>>() {
                    task.await.unwrap();
                }
            });
        },
    );
}

fn bytes() {
    const EXECUTIONS: usize = 2000;
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = (folder.path().join("ours.db"), folder.path().join("raw.db"));
    runtime().block_on(async {
        let store = Store::sqlite(&ours).await.unwrap();
        for _ in 0..EXECUTIONS {
            execute(&store).await;
        }
        store.close().await.unwrap();
    });
    let raw = Raw::open(&theirs);
    for _ in 0..EXECUTIONS {
        raw.execute(&text());
    }
    raw.close();
    let size = |path: &Path| {
        #[allow(clippy::cast_precision_loss, reason = "files are smaller than 2^53 bytes")]
        let size = std::fs::metadata(path).unwrap().len() as f64;
        size
    };
    println!("ratio sqlite_bytes {:.2}", size(&ours) / size(&theirs));
}

/// Loads 10,000 suspended machines, typed and sealed, against one SELECT of the same JSON into the
/// same types.
fn load() {
    const SUSPENDED: usize = 10_000;
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime();
    let store = runtime.block_on(Store::sqlite(folder.path().join("ours.db"))).unwrap();
    let mut raw = Raw::open(&folder.path().join("raw.db"));
    runtime.block_on(async {
        let mut machines: Vec<_> = (0..SUSPENDED).map(|_| waiting()).collect();
        let mut batch = store.batch();
        for machine in &mut machines {
            batch = batch.create(machine);
        }
        batch.write().await.unwrap();
        raw.suspended(SUSPENDED, &text());
    });
    let all = Query::new().machine("execution").limit(SUSPENDED);
    ratio(
        "sqlite_load",
        20,
        || {
            let page = runtime.block_on(store.load_all::<AnyExecution>(&all)).unwrap();
            assert_eq!(page.items.len(), SUSPENDED);
            for loaded in page.items {
                assert!(matches!(loaded.unwrap(), AnyExecution::Waiting(_)));
            }
        },
        || assert_eq!(raw.load::<Waiting, Terms>().len(), SUSPENDED),
    );
}

fn resume_growth() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime();
    let store = runtime.block_on(Store::sqlite(folder.path().join("ours.db"))).unwrap();
    let grown = |transitions: usize| {
        runtime.block_on(async {
            let mut waiting = waiting();
            for _ in 0..transitions / 2 {
                waiting = waiting.resume(&ACTORS.graph_runner).suspend(text(), &ACTORS.ecs_node);
            }
            store.create(&mut waiting).await.unwrap();
            waiting.id()
        })
    };
    let (long, short) = (grown(10_000), grown(10));
    let resume = |id: Id| {
        runtime.block_on(async {
            for _ in 0..200 {
                let _ = store.resume::<Waiting>(id).await.unwrap();
            }
        });
    };
    ratio("sqlite_resume_growth", 30, || resume(long), || resume(short));
}

fn million() {
    let machines: usize =
        std::env::var("MACHINES").map_or(1_000_000, |text| text.parse().expect("a number"));
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime();
    let open = || runtime.block_on(Store::sqlite(folder.path().join("full.db"))).unwrap();
    let full = open();
    let empty = runtime.block_on(Store::sqlite(folder.path().join("empty.db"))).unwrap();
    let start = Instant::now();
    runtime.block_on(async {
        for _ in 0..machines.div_ceil(10_000) {
            let mut some: Vec<_> = (0..10_000).map(|_| waiting()).collect();
            let mut batch = full.batch();
            for machine in &mut some {
                batch = batch.create(machine);
            }
            batch.write().await.unwrap();
        }
    });
    // Both begin with everything in the file and a short write-ahead log.
    runtime.block_on(full.close()).unwrap();
    let full = open();
    eprintln!("{machines} machines were created in {:.0} s", start.elapsed().as_secs_f64());
    ratio(
        "sqlite_million",
        200,
        || {
            runtime.block_on(execute(&full));
        },
        || {
            runtime.block_on(execute(&empty));
        },
    );
}
