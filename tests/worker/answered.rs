//! What a tool answered is what the handler gets, although the process is killed between the end of the call and the
//! handler.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use machine::{
    contract::{CallError, OrRefused, Outcome},
    worker::{Handled, Task},
};
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

/// Pays the sale with this number.
#[derive(Debug, Serialize, Deserialize, Tool)]
#[tool(bank.pay, irreversible, receipt = Paid, refusal = Declined)]
struct Pay {
    number: usize,
}

#[machine(durable, fields(number: usize))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Sale {
    #[initial]
    #[invoke(pay: Pay = Pay { number }, unattended)]
    #[on(end(outcome) => Ended, by = GraphRunner)]
    Paying,
    #[terminal]
    Ended { outcome: Outcome<Pay> },
}

type Answers = Vec<Result<Paid, Declined>>;

/// Gives each sale its answer.
struct Bank(Answers);

impl Perform<Pay> for Bank {
    async fn perform(&self, call: &Call<Pay>) -> Answer<Paid, Declined> {
        self.0[call.arguments().number].clone().or_refused().map(Applied::new)
    }
}

/// The process dies when this many outcomes have come, of which none was taken.
struct Till {
    dies_at: Option<usize>,
    ended: Count,
}

impl sale::Handle for Till {
    async fn paying(
        &self,
        sale: Sale<sale::Paying>,
        outcome: Outcome<Pay>,
        _: &mut Task,
    ) -> Handled<AnySale> {
        if let Some(all) = self.dies_at {
            if self.ended.add() + 1 == all {
                die();
            }
            std::future::pending::<()>().await;
        }
        Ok(Next::to(sale.end(outcome, graph_runner())))
    }
}

/// Drives sales.
fn sales(store: &Store, bank: Bank, dies_at: Option<usize>) -> Worker {
    let till = Till { dies_at, ended: Count::default() };
    let worker = worker(store).handler(sale::Driver(till)).tool(bank).concurrency(64);
    worker.lease(Duration::from_secs(1)).sweep(Duration::from_millis(50))
}

#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn is_killed_with_outcomes() {
    let (file, answers): (PathBuf, Answers) = orders();
    let store = Store::sqlite(file).await.unwrap();
    let all = answers.len();
    sales(&store, Bank(answers), Some(all)).run_until_idle().await.unwrap();
}

async fn all_sales(store: &Store) -> Vec<AnySale> {
    let sales = store.load_all::<AnySale>(&Query::new().machine("sale")).await.unwrap().items;
    sales.into_iter().map(Result::unwrap).collect()
}

async fn come_back_after_a_crash(file: &Path, answers: &Answers) {
    let store = Store::sqlite(file).await.unwrap();
    for number in 0..answers.len() {
        store.create(&mut Sale::new(number)).await.unwrap();
    }
    Process::start("worker::answered::is_killed_with_outcomes", &(file, answers)).wait_until_dead();

    let sales_of = all_sales(&store).await;
    assert!(sales_of.iter().all(|sale| matches!(sale, AnySale::Paying(_))), "{sales_of:?}");
    // No call is made again: this bank would panic.
    sales(&store, Bank(Vec::new()), None)
        .run_until(async {
            while all_sales(&store).await.iter().any(|sale| !matches!(sale, AnySale::Ended(_))) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await
        .unwrap();
    let mut taken = vec![None; answers.len()];
    for sale in all_sales(&store).await {
        let AnySale::Ended(sale) = sale else { panic!("{sale:?}") };
        taken[*sale.number()] = Some(sale.state().outcome.clone());
    }
    let expected = answers.iter().map(|answer| Some(answer.clone().map_err(CallError::Refused)));
    assert_eq!(taken, expected.collect::<Vec<_>>());
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
    // Each case is a process; a failure is not made smaller, because it says which answer differs.
    let config = ProptestConfig { cases: 4, max_shrink_iters: 0, ..ProptestConfig::default() };
    let mut runner = TestRunner::new(config);
    let run = runner.run(&prop::collection::vec(answer, 12), |answers| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("agent.db");
        Runtime::new().unwrap().block_on(come_back_after_a_crash(&file, &answers));
        Ok(())
    });
    run.unwrap();
}
