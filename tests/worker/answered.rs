//! What a tool answered is what the handler gets, for the visit that called it, although processes
//! are killed between the ends of calls and the handler.

use std::{
    collections::BTreeSet,
    fmt,
    path::{Path, PathBuf},
};

use machine::{
    contract::{CallError, OrRefused, Outcome},
    worker::{Handled, Task},
};
use machine_tests::book;
use proptest::{prelude::*, test_runner::TestRunner};
use tokio::runtime::Runtime;

use crate::{
    process::die,
    worker::{
        prelude::*,
        process::{Process, orders},
    },
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Paid {
    lines: Vec<String>,
    note: Option<String>,
    balance: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Declined {
    Limit { left: u64 },
    Account(String),
    Closed,
}

impl fmt::Display for Declined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "declined: {self:?}")
    }
}

/// The number of calls of a sale, each in a visit of its own.
const VISITS: usize = 3;

/// The number of processes that are killed.
const KILLS: usize = 2;

/// Pays a part of the sale with this number.
#[derive(Debug, Serialize, Deserialize, Tool)]
#[tool(bank.pay, irreversible, receipt = Paid, refusal = Declined)]
struct Pay {
    number: usize,
    visit: usize,
}

#[machine(durable, fields(number: usize))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Sale {
    #[initial]
    #[invoke(pay: Pay = Pay { number, visit }, unattended)]
    #[on(again(visit, taken) => Paying, by = GraphRunner)]
    #[on(end(taken) => Ended, by = GraphRunner)]
    Paying { visit: usize, taken: Vec<Outcome<Pay>> },
    #[terminal]
    Ended { taken: Vec<Outcome<Pay>> },
}

/// The answers to the calls of a sale.
type Answers = Vec<Result<Paid, Declined>>;

/// Gives each call its answer, and notes it in a file.
struct Bank {
    book: PathBuf,
    answers: Vec<Answers>,
}

impl Perform<Pay> for Bank {
    async fn perform(&self, call: &Call<Pay>) -> Answer<Paid, Declined> {
        let Pay { number, visit } = call.arguments;
        book::add(&self.book, &(number, visit)).unwrap();
        self.answers[number][visit].clone().or_refused().map(Applied::new)
    }
}

/// With stops, each sale stops in its visit of this number with the outcome of its call, which is
/// not taken. When all have stopped, the process dies.
struct Till {
    stops: Option<Vec<usize>>,
    stopped: Mutex<BTreeSet<usize>>,
}

impl sale::Handle for Till {
    async fn paying(
        &self,
        sale: Sale<sale::Paying>,
        outcome: Outcome<Pay>,
        _: &mut Task,
    ) -> Handled<AnySale> {
        let (number, visit) = (*sale.number(), sale.state().visit);
        if let Some(stops) = &self.stops
            && visit >= stops[number]
        {
            self.stopped.lock().unwrap().insert(number);
            if self.stopped.lock().unwrap().len() == stops.len() {
                die();
            }
            std::future::pending::<()>().await;
        }
        let mut taken = sale.state().taken.clone();
        taken.push(outcome);
        let (next, by) = (visit + 1, graph_runner());
        Ok(if next < VISITS {
            Next::to(sale.again(next, taken, by))
        } else {
            Next::to(sale.end(taken, by))
        })
    }
}

/// Drives the sales of a file.
fn sales(store: &Store, file: &Path, answers: Vec<Answers>, stops: Option<Vec<usize>>) -> Worker {
    let till = Till { stops, stopped: Mutex::default() };
    let bank = Bank { book: file.with_extension("book"), answers };
    let worker = worker(store).handler(sale::Driver(till)).tool(bank).concurrency(64);
    worker.lease(Duration::from_secs(1)).sweep(Duration::from_millis(50))
}

#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn is_killed_with_outcomes() {
    let (file, answers, stops): (PathBuf, Vec<Answers>, Vec<usize>) = orders();
    let store = Store::sqlite(&file).await.unwrap();
    sales(&store, &file, answers, Some(stops)).run_until_idle().await.unwrap();
}

async fn all_sales(store: &Store) -> Vec<AnySale> {
    let sales = store.load_all::<AnySale>(&Query::new().machine("sale")).await.unwrap().items;
    sales.into_iter().map(Result::unwrap).collect()
}

/// What a sale has to take from its calls.
fn outcomes(answers: &[Result<Paid, Declined>]) -> Vec<Outcome<Pay>> {
    answers.iter().map(|answer| answer.clone().map_err(CallError::Refused)).collect()
}

async fn come_back_after_crashes(file: &Path, answers: &[Answers], stops: &[Vec<usize>]) {
    let store = Store::sqlite(file).await.unwrap();
    for number in 0..answers.len() {
        store.create(&mut Sale::new(number, 0, Vec::new())).await.unwrap();
    }
    for stops in stops {
        let orders = (file, answers, stops);
        Process::start("worker::answered::is_killed_with_outcomes", &orders).wait_until_dead();
        for sale in all_sales(&store).await {
            let AnySale::Paying(sale) = sale else { panic!("{sale:?}") };
            let (number, visit) = (*sale.number(), sale.state().visit);
            assert_eq!(visit, stops[number]);
            assert_eq!(sale.state().taken, outcomes(&answers[number])[..visit]);
        }
    }
    sales(&store, file, answers.to_vec(), None)
        .run_until(async {
            while all_sales(&store).await.iter().any(|sale| !matches!(sale, AnySale::Ended(_))) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await
        .unwrap();
    for sale in all_sales(&store).await {
        let AnySale::Ended(sale) = sale else { panic!("{sale:?}") };
        assert_eq!(sale.state().taken, outcomes(&answers[*sale.number()]));
    }
    // No call was made twice.
    let mut calls: Vec<(usize, usize)> = book::lines(&file.with_extension("book"));
    calls.sort_unstable();
    let all = (0..answers.len()).flat_map(|sale| (0..VISITS).map(move |visit| (sale, visit)));
    assert_eq!(calls, all.collect::<Vec<_>>());
}

#[test]
fn an_answer_is_what_the_handler_gets_after_a_crash() {
    let text = any::<String>();
    let paid = (prop::collection::vec(any::<String>(), 0..4), prop::option::of(text), any::<i64>())
        .prop_map(|(lines, note, balance)| Paid { lines, note, balance });
    let declined = prop_oneof![
        any::<u64>().prop_map(|left| Declined::Limit { left }),
        any::<String>().prop_map(Declined::Account),
        Just(Declined::Closed),
    ];
    let answer = prop_oneof![paid.prop_map(Ok), declined.prop_map(Err)];
    let answers = prop::collection::vec(answer, VISITS);
    // A sale does not go back.
    let stops = prop::collection::vec(0..VISITS, KILLS).prop_map(|mut visits| {
        visits.sort_unstable();
        visits
    });
    // Each case is some processes; a failure is not made smaller, because it says which answer
    // differs.
    let config = ProptestConfig { cases: 4, max_shrink_iters: 0, ..ProptestConfig::default() };
    let mut runner = TestRunner::new(config);
    let run = runner.run(&prop::collection::vec((answers, stops), 12), |sales| {
        let (answers, visits): (Vec<_>, Vec<_>) = sales.into_iter().unzip();
        // Of each process that is killed, the visits in which the sales stop.
        let stops: Vec<Vec<usize>> =
            (0..KILLS).map(|kill| visits.iter().map(|visits| visits[kill]).collect()).collect();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("agent.db");
        Runtime::new().unwrap().block_on(come_back_after_crashes(&file, &answers, &stops));
        Ok(())
    });
    run.unwrap();
}
