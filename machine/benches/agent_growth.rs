//! The cost of a turn of an agent with a long history, against one of a new agent in a file of its
//! own: `ratio` lines with the steps of SQLite's virtual machine and with the rows, and a line with
//! the numbers.
//!
//! `cargo bench --package machine --features failpoints --bench agent_growth`. `TURNS` is how many
//! turns of the agent were delivered, by default 100,000; a tenth as many are queued. They run one
//! after the other, each with its commits, so `TMPDIR=/dev/shm` makes it much faster; what is
//! counted is the same.

#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::print_stdout)]

mod turns;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Instant,
};

use machine::{
    actor::Actors,
    agent::{AgentId, Agents, AnyAgentHead, Driver},
    store::{
        Store,
        cost::{self, Cost},
    },
    worker::{Handled, Handler, Next, Task, Worker},
};
use tokio::runtime::{Builder, Runtime};
use turns::{Clerk, turn};

/// The number of turns that are measured.
const MEASURED: usize = 100;

/// What is measured: the enqueueing of a turn, and what there is from one call of its agent to the
/// next, which is the delivery, with the dispatch and the claim of the next turn.
const PARTS: [&str; 2] = ["enqueue", "turn"];

/// The steps and the rows of each part.
type Costs = [(i64, i64); PARTS.len()];

fn main() {
    let turns = std::env::var("TURNS").map_or(100_000, |text| text.parse().unwrap());
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let [base, ours] = [("new.db", 0), ("old.db", turns)].map(|(name, history)| {
        let start = Instant::now();
        let costs = measure(&runtime, &folder.path().join(name), history);
        println!("{history} turns were delivered after {:.0} s", start.elapsed().as_secs_f64());
        costs
    });
    for (part, (ours, base)) in PARTS.into_iter().zip(ours.into_iter().zip(base)) {
        println!("ratio agent_growth_{part}_steps {:.2}", ratio(ours.0, base.0));
        println!("ratio agent_growth_{part}_rows {:.2}", ratio(ours.1, base.1));
        println!(
            "{part}: steps {} and {}, rows {} and {}, of {MEASURED} turns",
            base.0, ours.0, base.1, ours.1
        );
    }
}

#[allow(clippy::cast_precision_loss, reason = "costs are smaller than 2^53")]
fn ratio(ours: i64, base: i64) -> f64 {
    ours as f64 / base as f64
}

/// Delivers so many turns while more are queued, and measures the next ones.
fn measure(runtime: &Runtime, file: &Path, history: usize) -> Costs {
    let seen = Arc::<Mutex<Seen>>::default();
    runtime.block_on(async {
        let store = Store::sqlite(file).await.unwrap();
        let (agent, agents) = (AgentId("planner".to_owned()), Agents::of(&store));
        agents.create(&agent).await.unwrap();
        // The last one is active while others are enqueued.
        let first = history + history / 10 + 1;
        for number in 0..first {
            agents.enqueue(turn(&agent, number)).await.unwrap();
        }
        let (driver, file, seen) = (Driver(Clerk), file.to_owned(), Arc::clone(&seen));
        let probe = Probe { driver, file, agent, history, first, seen };
        let worker = Worker::new(&store, Actors::issue("bench").unwrap()).handler(probe);
        worker.run_until_idle().await.unwrap();
        store.close().await.unwrap();
    });
    let seen = seen.lock().unwrap();
    assert_eq!(seen.running, history + MEASURED + 1);
    seen.costs
}

#[derive(Default)]
struct Seen {
    /// The number of turns that have begun to run.
    running: usize,
    costs: Costs,
}

impl Seen {
    fn add(&mut self, part: usize, cost: Cost) {
        let (steps, rows) = &mut self.costs[part];
        *steps += cost.steps;
        *rows += cost.rows;
    }
}

/// Counts the turns that were delivered, and measures those after the first ones.
struct Probe {
    driver: Driver<Clerk>,
    file: PathBuf,
    agent: AgentId,
    /// The number of turns that are not measured.
    history: usize,
    /// The number of the first turn that is not enqueued yet.
    first: usize,
    seen: Arc<Mutex<Seen>>,
}

impl Probe {
    /// Adds the cost of the turn before. Returns how many turns were delivered.
    fn enter(&self) -> usize {
        let (cost, mut seen) = (cost::take(&self.file), self.seen.lock().unwrap());
        let delivered = seen.running;
        seen.running += 1;
        if delivered > self.history {
            seen.add(1, cost);
        }
        delivered
    }

    /// Measures how turns are enqueued, and begins to measure how they run.
    async fn enqueue(&self, agents: &Agents) {
        let _ = cost::take(&self.file);
        for number in self.first..self.first + MEASURED {
            agents.enqueue(turn(&self.agent, number)).await.unwrap();
        }
        let cost = cost::take(&self.file);
        self.seen.lock().unwrap().add(0, cost);
    }
}

impl Handler for Probe {
    type Machine = AnyAgentHead;

    async fn handle(&self, head: AnyAgentHead, task: &mut Task) -> Handled<AnyAgentHead> {
        if matches!(head, AnyAgentHead::Running(_)) {
            let delivered = self.enter();
            if delivered == self.history + MEASURED {
                return Ok(Next::Wait);
            }
            if delivered == self.history {
                self.enqueue(&Agents::of(task.store())).await;
            }
        }
        self.driver.handle(head, task).await
    }
}
