//! The cost of the worker, against raw SQLite that does the same with hand-written statements at
//! the same durability: `ratio NAME VALUE` lines, ours over theirs. `agent_turns` is a turn of an
//! agent, against the worker with a machine that has as many moves.
//!
//! `cargo bench --package machine --bench worker`, or `-- NAME` for one of them.

#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::print_stdout)]

mod queue;
mod turns;

use std::{
    path::Path,
    sync::mpsc::{Sender, channel},
    thread,
    time::{Duration, Instant},
};

use machine::{
    actor::{Actors, Anyone},
    agent::{AgentId, Agents, Driver},
    machine,
    store::{Message, Store},
    worker::{Handled, Handler, Next, Task, Worker},
};
use queue::Queue;
use serde::{Deserialize, Serialize};
use tokio::{
    runtime::{Builder, Runtime},
    task::JoinSet,
};
use turns::{Clerk, turn};

/// Three steps, and an end.
#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
pub enum Job {
    #[initial]
    #[on(fetch => Fetched(text = "x".repeat(256)))]
    Planned,
    #[on(convert => Converted(text = text))]
    Fetched { text: String },
    #[on(publish => Published)]
    Converted { text: String },
    #[terminal]
    Published,
}

struct Steps;

impl Handler for Steps {
    type Machine = AnyJob;

    async fn handle(&self, job: AnyJob, _: &mut Task) -> Handled<AnyJob> {
        Ok(match job {
            AnyJob::Planned(job) => Next::to(job.fetch()),
            AnyJob::Fetched(job) => Next::to(job.convert()),
            AnyJob::Converted(job) => Next::to(job.publish()),
            AnyJob::Published(_) => Next::Wait,
        })
    }
}

/// Waits for a message, and says when it came.
#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
pub enum Waiter {
    #[initial]
    #[stable]
    #[on(wake => Awake)]
    Waiting,
    #[stable]
    #[on(sleep => Waiting)]
    Awake,
}

struct Bell(Sender<Instant>);

impl Handler for Bell {
    type Machine = AnyWaiter;

    async fn handle(&self, waiter: AnyWaiter, _: &mut Task) -> Handled<AnyWaiter> {
        if let AnyWaiter::Awake(_) = waiter {
            self.0.send(Instant::now())?;
        }
        Ok(Next::Wait)
    }
}

const CONCURRENCY: usize = 16;

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    let wants = |name: &str| arguments.is_empty() || arguments.iter().any(|wanted| wanted == name);
    if wants("worker_1") {
        steps("worker_1", 1);
    }
    if wants("worker_4") {
        steps("worker_4", 4);
    }
    if wants("agent_turns") {
        agent_turns();
    }
    if wants("worker_message") {
        message();
    }
    if wants("worker_idle") {
        idle();
    }
}

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap()
}

fn worker(store: &Store) -> Worker {
    Worker::new(store, Actors::issue("bench").unwrap()).concurrency(CONCURRENCY)
}

async fn create(store: &Store, jobs: usize) {
    for _ in 0..jobs / 100 {
        let mut jobs: Vec<_> = (0..100).map(|_| Job::new()).collect();
        let batch = jobs.iter_mut().fold(store.batch(), |batch, job| batch.create(job));
        batch.write().await.unwrap();
    }
}

/// Steps per second of this many workers, each with a connection of its own.
fn steps(name: &str, workers: usize) {
    const JOBS: usize = 1000;
    const ROUNDS: usize = 5;
    let folder = tempfile::tempdir().unwrap();
    let (runtime, file) = (runtime(), folder.path().join("ours.db"));
    let stores: Vec<Store> =
        (0..workers).map(|_| runtime.block_on(Store::sqlite(&file)).unwrap()).collect();
    let raw = folder.path().join("raw.db");
    let mut best = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        runtime.block_on(create(&stores[0], JOBS));
        let start = Instant::now();
        runtime.block_on(async {
            let runs: Vec<_> = stores
                .iter()
                .map(|store| tokio::spawn(worker(store).handler(Steps).run_until_idle()))
                .collect();
            for run in runs {
                run.await.unwrap().unwrap();
            }
        });
        best[0] = best[0].min(start.elapsed());
        best[1] = best[1].min(raw_steps(&raw, workers, JOBS));
    }
    let steps = f64::from(u32::try_from(3 * JOBS).unwrap());
    let per_second = |time: Duration| steps / time.as_secs_f64();
    println!("{name}: {:.0} steps per second, raw {:.0}", per_second(best[0]), per_second(best[1]));
    println!("ratio {name} {:.2}", best[0].as_secs_f64() / best[1].as_secs_f64());
}

fn raw_steps(file: &Path, workers: usize, jobs: usize) -> Duration {
    let queues: Vec<Queue> = (0..workers).map(|_| Queue::open(file)).collect();
    queues[0].fill(jobs);
    let start = Instant::now();
    let threads: Vec<_> =
        queues.into_iter().map(|queue| thread::spawn(move || queue.work(CONCURRENCY))).collect();
    for thread in threads {
        thread.join().unwrap();
    }
    start.elapsed()
}

/// Turns of agents, from their enqueueing to their deliverables, against as many jobs, from their
/// creation to their end. The client writes each of them, and then the worker makes three moves,
/// with as many agents as jobs at the same time. Of a job, each move is a commit, after one that
/// claims its lease. Those of a queued turn are in two commits, shared with the turns beside it:
/// a delivery is written with the dispatch and the claim of the next turn. A turn has seven writes
/// of records, too.
fn agent_turns() {
    const EACH: usize = 64;
    const ROUNDS: usize = 5;
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime();
    let [ours, base] = ["ours.db", "base.db"]
        .map(|name| runtime.block_on(Store::sqlite(folder.path().join(name))).unwrap());
    let agents: Vec<_> = (0..CONCURRENCY).map(|place| AgentId(format!("agent {place}"))).collect();
    for agent in &agents {
        runtime.block_on(Agents::of(&ours).create(agent)).unwrap();
    }
    let mut best = [Duration::MAX; 2];
    for round in 0..ROUNDS {
        let start = Instant::now();
        runtime.block_on(async {
            let mut clients = JoinSet::new();
            for (place, agent) in agents.iter().cloned().enumerate() {
                let (store, first) = (ours.clone(), (round * CONCURRENCY + place) * EACH);
                clients.spawn(async move {
                    for number in first..first + EACH {
                        Agents::of(&store).enqueue(turn(&agent, number)).await.unwrap();
                    }
                });
            }
            clients.join_all().await;
            worker(&ours).handler(Driver(Clerk)).run_until_idle().await.unwrap();
        });
        best[0] = best[0].min(start.elapsed());
        let start = Instant::now();
        runtime.block_on(async {
            let mut clients = JoinSet::new();
            for store in vec![base.clone(); CONCURRENCY] {
                clients.spawn(async move {
                    for _ in 0..EACH {
                        store.create(&mut Job::new()).await.unwrap();
                    }
                });
            }
            clients.join_all().await;
            worker(&base).handler(Steps).run_until_idle().await.unwrap();
        });
        best[1] = best[1].min(start.elapsed());
    }
    let count = f64::from(u32::try_from(CONCURRENCY * EACH).unwrap());
    let per_second = |time: Duration| count / time.as_secs_f64();
    println!("agent_turns: {:.0} per second, jobs {:.0}", per_second(best[0]), per_second(best[1]));
    println!("ratio agent_turns {:.2}", best[0].as_secs_f64() / best[1].as_secs_f64());
}

/// From the call of `send` to the handler, against one commit that inserts a message and one that
/// claims its receiver.
fn message() {
    const ROUNDS: usize = 200;
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime();
    let store = runtime.block_on(Store::sqlite(folder.path().join("ours.db"))).unwrap();
    let queue = Queue::open(&folder.path().join("raw.db"));
    queue.fill(1);
    let (rings, rung) = channel();
    let mut waiter = Waiter::new();
    runtime.block_on(store.create(&mut waiter)).unwrap();
    let running = {
        let _guard = runtime.enter();
        // No sweep helps: the handler is called because of the message.
        worker(&store).handler(Bell(rings)).sweep(Duration::from_mins(10)).start()
    };
    let mut best = [Duration::MAX; 2];
    let mut all = Vec::new();
    for _ in 0..ROUNDS {
        for event in [waiter::Event::Wake, waiter::Event::Sleep] {
            let awaits = matches!(event, waiter::Event::Wake);
            let message = Message::new(&event, &Anyone).unwrap();
            let start = Instant::now();
            runtime.block_on(store.send(waiter.id(), &message)).unwrap();
            if awaits {
                let time = rung.recv().unwrap() - start;
                best[0] = best[0].min(time);
                all.push(time);
            }
        }
        let start = Instant::now();
        queue.message_and_claim();
        best[1] = best[1].min(start.elapsed());
    }
    runtime.block_on(running.stop()).unwrap();
    all.sort();
    println!("worker_message: best {:?}, median {:?}, raw {:?}", best[0], all[ROUNDS / 2], best[1]);
    println!("ratio worker_message {:.2}", best[0].as_secs_f64() / best[1].as_secs_f64());
}

/// The CPU time of a worker that has nothing to do, with 100,000 machines that wait and with none.
fn idle() {
    const MACHINES: usize = 100_000;
    const TIME: Duration = Duration::from_secs(5);
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime();
    let used = |machines: usize| {
        let file = folder.path().join(format!("{machines}.db"));
        let store = runtime.block_on(Store::sqlite(file)).unwrap();
        let (rings, _rung) = channel();
        runtime.block_on(async {
            for _ in 0..machines / 1000 {
                let mut waiters: Vec<_> = (0..1000).map(|_| Waiter::new()).collect();
                let all = waiters.iter_mut().fold(store.batch(), |batch, it| batch.create(it));
                all.write().await.unwrap();
            }
            let start = Instant::now();
            worker(&store).handler(Bell(rings.clone())).run_until_idle().await.unwrap();
            println!("worker_idle: {machines} machines looked at in {:?}", start.elapsed());
            let start = Instant::now();
            let running = worker(&store).handler(Bell(rings)).start();
            // Until it has started.
            tokio::time::sleep(Duration::from_secs(1)).await;
            println!("worker_idle: started after {:?}", start.elapsed());
            let before = cpu_time();
            tokio::time::sleep(TIME).await;
            let used = cpu_time().saturating_sub(before);
            running.stop().await.unwrap();
            used
        })
    };
    let (many, none) = (used(MACHINES), used(0));
    println!(
        "worker_idle: {many:?} of CPU time in {TIME:?} with {MACHINES} machines, {none:?} without"
    );

    let tick = Duration::from_millis(10);
    println!(
        "ratio worker_idle {:.2}",
        many.max(tick).as_secs_f64() / none.max(tick).as_secs_f64()
    );
}

/// The CPU time of this process.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap())
}
