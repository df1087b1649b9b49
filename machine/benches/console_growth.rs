//! The cost of the console on a file with many ended executions, against one with 1,000: `ratio`
//! lines with the steps of SQLite's virtual machine and with the rows, and a line with the numbers
//! and the times.
//!
//! `cargo bench --package machine --features failpoints --bench console_growth`. `EXECUTIONS` is
//! how many have ended in the larger file, by default 1,000,000.

#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::print_stdout)]

use std::{path::Path, sync::LazyLock, time::Instant};

use machine::{
    Id,
    actor::{Actors, Anyone, Human as Person},
    contract::{
        Action, Answer, Applied, Call, Contract, Execution, NoReceipt, Perform, Planned, ToolSpec,
        service_fn,
    },
    machine,
    observe::Observer,
    operate::Operator,
    store::{OpenOptions, Query, Store, cost},
    view::Human,
};
use serde::{Deserialize, Serialize};
use tokio::runtime::{Builder, Runtime};

/// The number of ended executions in the smaller file.
const BASE: usize = 1_000;

/// One of so many had an irreversible action.
const IRREVERSIBLE: usize = 1_000;

static ACTORS: LazyLock<Actors> = LazyLock::new(|| Actors::issue("bench").unwrap());

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
pub enum Counter {
    #[initial]
    #[on(step => Self)]
    Counting,
}

fn main() {
    let executions = std::env::var("EXECUTIONS").map_or(1_000_000, |text| text.parse().unwrap());
    let runtime = Builder::new_current_thread().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let files = [("small.db", BASE), ("large.db", executions)];
    let [base, ours] = files.map(|(name, ended)| {
        let start = Instant::now();
        let file = folder.path().join(name);
        let filled = runtime.block_on(fill(&file, ended));
        println!("{ended} executions have ended after {:.0} s", start.elapsed().as_secs_f64());
        measure(&runtime, &file, &filled)
    });
    for (base, ours) in base.iter().zip(&ours) {
        let name = base.name;
        let ratio = |ours: i64, base: i64| {
            #[allow(clippy::cast_precision_loss, reason = "costs are smaller than 2^53")]
            let ratio = ours as f64 / base as f64;
            ratio
        };
        println!("ratio console_growth_{name}_steps {:.2}", ratio(ours.steps, base.steps));
        println!("ratio console_growth_{name}_rows {:.2}", ratio(ours.rows, base.rows));
        println!(
            "{name}: steps {} and {}, rows {} and {}, ms {:.1} and {:.1}",
            base.steps, ours.steps, base.rows, ours.rows, base.ms, ours.ms
        );
    }
}

/// The machines that are looked at.
struct Filled {
    gate: Id,
    doubt: Id,
    ended: Id,
    long: Id,
}

fn answers(answer: Answer) -> impl Perform<Action> + 'static {
    service_fn(move |_: &Call<Action>| {
        let answer = answer.clone();
        Box::pin(async move { answer.map_err(|it| it.map(Into::into)) })
    })
}

fn mail(to: &str) -> Contract {
    let tool = ToolSpec::irreversible("email", "send").unwrap();
    let arguments = format!(r#"{{"to": "{to}"}}"#);
    Contract::tool_call(&tool, &arguments, &ACTORS.reasoning_node).unwrap()
}

async fn sent(store: &Store, to: &str, answer: Answer) -> Id {
    let mut planned = Planned::<Action>::new(mail(to)).unwrap();
    store.plan(&mut planned).await.unwrap();
    let id = planned.id();
    drop(store.perform(planned, answers(answer), &ACTORS.tool_node).await.unwrap());
    id
}

/// A file with the same open work, the oldest, and with this many ended executions.
async fn fill(file: &Path, ended: usize) -> Filled {
    let store = Store::sqlite(file).await.unwrap();
    let ask = mail("ann").ask::<Action>(None, &ACTORS.ecs_node);
    let (mut gate, mut behind) = ask.unwrap();
    store.ask(&mut gate, &mut behind).await.unwrap();
    let doubt = sent(&store, "bob", Err(NoReceipt::unknown("connection lost"))).await;
    let mut long = AnyCounter::from(Counter::new());
    for _ in 0..ended.min(100_000) {
        long.apply_mut(counter::Event::Step, &Anyone).unwrap();
    }
    store.create(&mut long).await.unwrap();
    let read = ToolSpec::idempotent("files", "read").unwrap();
    let mut last = None;
    for first in (0..ended).step_by(10_000) {
        let (mut done, mut failed) = (Vec::new(), Vec::new());
        for number in first..ended.min(first + 10_000) {
            if number % IRREVERSIBLE == 0 {
                sent(&store, &format!("{number}@example.com"), Ok(Applied::new("sent"))).await;
                continue;
            }
            let arguments = format!(r#"{{"path": "{number}.txt"}}"#);
            let contract = Contract::tool_call(&read, &arguments, &ACTORS.reasoning_node).unwrap();
            let running = Execution::new(contract).start(&ACTORS.tool_node);
            if number % 10 == 0 {
                failed.push(running.fail("not found".to_owned(), None, &ACTORS.tool_node));
            } else {
                done.push(running.succeed("12 lines".to_owned(), &ACTORS.tool_node));
            }
        }
        let mut batch = store.batch();
        for machine in &mut done {
            batch = batch.create(machine);
        }
        for machine in &mut failed {
            batch = batch.create(machine);
        }
        batch.write().await.unwrap();
        last = done.last().map(Execution::id);
    }
    let filled = Filled { gate: gate.id(), doubt, ended: last.unwrap(), long: long.id() };
    store.close().await.unwrap();
    filled
}

struct Measured {
    name: &'static str,
    steps: i64,
    rows: i64,
    ms: f64,
}

fn measure(runtime: &Runtime, file: &Path, filled: &Filled) -> Vec<Measured> {
    let measured = |name, look: &dyn Fn()| {
        let _ = cost::take(file);
        let start = Instant::now();
        look();
        let ms = start.elapsed().as_secs_f64() * 1000.0;
        let cost = cost::take(file);
        Measured { name, steps: cost.steps, rows: cost.rows, ms }
    };
    // Each opens the file, as a command does.
    let opened = async || OpenOptions::new().read_only(file).await.unwrap();
    vec![
        measured("attention", &|| {
            runtime.block_on(async {
                let observer = Observer::new(&opened().await);
                let attention = observer.attention::<Human>(&Query::new().limit(50)).await.unwrap();
                assert_eq!(attention.concerns.len(), 2);
            });
        }),
        measured("list", &|| {
            runtime.block_on(async {
                let observer = Observer::new(&opened().await);
                let query = Query::new().newest_first().limit(50);
                assert_eq!(observer.list::<Human>(&query).await.unwrap().items.len(), 50);
            });
        }),
        measured("failed", &|| {
            runtime.block_on(async {
                let observer = Observer::new(&opened().await);
                let query = Query::new().status("failed").newest_first().limit(50);
                assert_eq!(observer.list::<Human>(&query).await.unwrap().items.len(), 50);
            });
        }),
        measured("show", &|| {
            runtime.block_on(async {
                let observer = Observer::new(&opened().await);
                for id in [filled.doubt, filled.ended] {
                    let digits = id.to_string().replace('-', "");
                    assert_eq!(observer.ids_ending(&digits[24..]).await.unwrap(), [id]);
                    observer.detail::<Human>(id).await.unwrap();
                }
            });
        }),
        measured("timeline", &|| {
            runtime.block_on(async {
                let observer = Observer::new(&opened().await);
                for from in [0, 500, u64::MAX] {
                    observer.timeline_part::<Human>(filled.long, from, 100).await.unwrap();
                }
            });
        }),
        measured("approve", &|| {
            runtime.block_on(async {
                let store = Store::sqlite(file).await.unwrap();
                let ann = Person::new("ann").unwrap();
                let operator = Operator::new(&store, &ACTORS, &ann, "bench");
                let gates = operator.gates("approve", &[filled.gate]).await.unwrap();
                let shown = gates.into_iter().map(|gate| {
                    let digest = gate.whole_question().map(|whole| whole.digest);
                    (gate, digest)
                });
                assert_eq!(operator.approve(shown.collect()).await.unwrap().len(), 1);
            });
        }),
    ]
}
