//! A worker does not start while it cannot read the machines of its kinds.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::AtomicUsize,
};

use machine::{store::OpenError, stored::Context, worker::WorkerError};

use crate::worker::prelude::*;

/// A program: the field of its refunds, that in the context of its payouts, and the arguments of
/// its tool.
macro_rules! program {
    (
        $program:ident, [$($of_why:tt)*] $why:ident, [$($of_iban:tt)*] $iban:ident,
        { $($arguments:tt)* }
    ) => {
        mod $program {
            use super::*;

            #[machine(durable)]
            #[derive(Debug, Serialize, Deserialize)]
            pub(super) enum Refund {
                #[initial]
                #[on(stop($why) => Stuck, by = GraphRunner)]
                #[on(pay => Paid, by = GraphRunner)]
                Received,
                #[stable]
                #[on(pay => Paid, by = GraphRunner)]
                Stuck { $($of_why)* $why: String },
                #[terminal]
                Paid,
            }

            #[derive(Debug, Serialize, Deserialize)]
            pub(super) struct Terms {
                $($of_iban)*
                pub(super) $iban: String,
            }

            impl Context for Terms {
                type Summary = ();
            }

            #[machine(durable, context = Terms)]
            #[derive(Debug, Serialize, Deserialize)]
            pub(super) enum Payout {
                #[initial]
                #[on(pay => Paid, by = GraphRunner)]
                Approved,
                #[terminal]
                Paid,
            }

            tool!(PayBack { $($arguments)* } = "payments", "refund", Idempotent);
        }
    };
}

program!(first, [] why, [] iban, { amount: u32 });
program!(second, [] problem, [] account, { amount: u32, currency: String });
// It reads what the first one wrote.
program!(
    third,
    [#[was = "why"]] problem,
    [#[serde(alias = "iban")]] account,
    { amount: u32, #[serde(default)] currency: String }
);

fn payout() -> first::Payout<first::payout::Approved> {
    first::Payout::new(first::Terms { iban: "DE02".to_owned() })
}

/// The worker does not start; returns what it says.
async fn refused(store: &Store, worker: Worker) -> String {
    let check = worker.check().await.unwrap();
    let found = worker.run_until_idle().await;
    assert_err!(found, WorkerError::Incompatible { check: found } if **found == check);
    assert_eq!(store.workers().await.unwrap(), []);
    check.to_string()
}

#[test]
fn the_end_of_a_worker_that_refuses_can_be_awaited() {
    each(async |store| {
        let stuck = first::Refund::new().stop("rain".to_owned(), graph_runner());
        create(&store, stuck).await;
        let running = worker(&store).handler(rests::<second::AnyRefund>()).start();
        tokio::time::timeout(STUCK, running.ended()).await.unwrap();
        assert_err!(running.stop().await, WorkerError::Incompatible { .. });
    });
}

#[track_caller]
fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
}

#[test]
fn a_machine_that_does_not_fit_keeps_a_worker_from_starting() {
    each(async |store| {
        let runner = graph_runner();
        let fits = create(&store, first::Refund::new()).await;
        let stuck = first::Refund::new().stop("rain".to_owned(), runner);
        let stuck = create(&store, stuck).await;
        let first = || worker(&store).handler(rests::<first::AnyRefund>());
        let second = || worker(&store).handler(rests::<second::AnyRefund>());
        let text = refused(&store, second()).await;
        contains(&text, &[&stuck.to_string(), "`#[was = \"why\"]` on `problem`"]);
        assert!(!text.contains(&fits.to_string()), "{text}");
        settle(worker(&store).handler(rests::<third::AnyRefund>())).await;
        // The first program can drive what it has written, and once that has ended, any can.
        settle(first()).await;
        let first::AnyRefund::Stuck(loaded) = store.load(stuck).await.unwrap() else { panic!() };
        store.commit(&mut loaded.pay(runner)).await.unwrap();
        settle(second()).await;
    });
}

/// A definition has no fields of a context, so the machines are read.
#[test]
fn a_context_that_does_not_fit_keeps_a_worker_from_starting() {
    each(async |store| {
        let runner = graph_runner();
        let id = create(&store, payout()).await;
        let ended = create(&store, payout().pay(runner)).await;
        let second = || worker(&store).handler(rests::<second::AnyPayout>());
        let text = refused(&store, second()).await;
        let count = "payout: 1 checked, 1 cannot be read";
        let context = format!("the context of {id} does not match");
        let repair = "`#[serde(alias = \"..\")]`";
        contains(&text, &[count, &context, "missing field `account`", repair]);
        assert!(!text.contains(&ended.to_string()), "{text}");
        settle(worker(&store).handler(rests::<third::AnyPayout>())).await;
        // Now workers drive the kind, and the machine that has ended is still not read.
        contains(&refused(&store, second()).await, &[count]);
        let first::AnyPayout::Approved(loaded) = store.load(id).await.unwrap() else { panic!() };
        store.commit(&mut loaded.pay(runner)).await.unwrap();
        settle(second()).await;
    });
}

/// Of many machines, the oldest and the newest are read.
#[test]
fn the_oldest_and_the_newest_machines_are_read_before_the_start() {
    each(async |store| {
        let terms = || second::Terms { account: "DE02".to_owned() };
        let mut fit: Vec<_> = (0..600).map(|_| second::Payout::new(terms())).collect();
        let mut batch = store.batch();
        for machine in &mut fit {
            batch = batch.create(machine);
        }
        batch.write().await.unwrap();
        let second = || worker(&store).handler(rests::<second::AnyPayout>());
        settle(second()).await;
        let newest = create(&store, payout()).await.to_string();
        let text = refused(&store, second()).await;
        contains(&text, &["payout: 601 checked, 1 cannot be read", &newest]);
    });
}

fn call() -> Execution<machine::contract::execution::Pending> {
    Execution::new(Contract::of(&first::PayBack { amount: 3 }, reasoning_node()).unwrap())
}

#[test]
fn arguments_that_do_not_fit_keep_a_worker_from_starting() {
    each(async |store| {
        let id = create(&store, call()).await;
        let second = || worker(&store).tool::<second::PayBack>(Service::default());
        let text = refused(&store, second()).await;
        contains(
            &text,
            &[
                "calls of payments.refund: 1 checked, 1 cannot be read",
                &format!("{id} in `pending`"),
                "missing field `currency`",
                "`#[serde(default)]` on an argument that was added",
            ],
        );
        assert!(!text.contains("pass arguments"), "{text}");
        settle(worker(&store).tool::<third::PayBack>(Service::default())).await;
        is(&store, id, "completed").await;
        settle(second()).await;
    });
}

/// A worker that runs already sets aside a call that it cannot read, and makes others. It does not
/// start again; a program that reads the call makes it after a requeue.
#[test]
fn a_running_worker_sets_aside_what_it_cannot_read() {
    each(async |store| {
        let bank = Service::default();
        let second = || worker(&store).attempts(1).tool::<second::PayBack>(bank.clone());
        let running = second().tool::<Charge>(bank.clone()).start();
        until("it is listed", async || !store.workers().await.unwrap().is_empty()).await;
        let id = create(&store, call()).await;
        let other = plan::<Charge>(&store, charge(3)).await;
        let aside = async || store.set_aside().await.unwrap().machines;
        until("it is set aside", async || !aside().await.is_empty()).await;
        until("the other is made", async || state(&store, other).await == "completed").await;
        running.stop().await.unwrap();
        let aside = aside().await;
        let [(found, Some(error))] = &aside[..] else { panic!("{aside:?}") };
        assert_eq!(*found, id);
        contains(error, &["missing field `currency`"]);
        refused(&store, second()).await;
        store.requeue(id, &[]).await.unwrap();
        settle(worker(&store).tool::<first::PayBack>(bank.clone())).await;
        is(&store, id, "completed").await;
    });
}

tool!(
    Numbered {
        amount: u32,
        #[serde(default = "number")]
        number: usize
    } = "payments",
    "refund",
    Idempotent
);

/// Another number each time.
fn number() -> usize {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

/// A program that declares its tools hears of it when it opens the file.
#[tokio::test]
async fn declared_tools_are_checked_when_a_file_is_opened() {
    let (_folder, file) = new_file();
    let id = create(&Store::sqlite(&file).await.unwrap(), call()).await;
    let options = OpenOptions::new().tool::<second::PayBack>();
    let check = options.check(&file).await.unwrap();
    assert_eq!(check.tools[0].blocked[0].id, id);
    assert_err!(options.sqlite(&file).await, OpenError::Incompatible { .. });
    // The fault is a default, so the error does not advise to add one.
    let check = OpenOptions::new().tool::<Numbered>().check(&file).await.unwrap();
    let reason = &check.tools[0].blocked[0].reason;
    contains(reason, &["they differ each time they are read"]);
    assert!(!reason.contains("serde(default)"), "{reason}");
    OpenOptions::new().tool::<first::PayBack>().sqlite(&file).await.unwrap();
}

#[cfg(unix)]
mod process {
    use rusqlite::{Connection, types::Value};

    use super::*;
    use crate::worker::process::{Process, orders, say};

    /// A bank that is a file.
    struct Teller(PathBuf);

    impl Perform<Charge> for Teller {
        async fn perform(&self, call: &Call<Charge>) -> Answer {
            fs::write(&self.0, call.arguments.cents.to_string())?;
            Ok(Applied::new("transferred"))
        }
    }

    #[tokio::test]
    #[ignore = "another test runs it as another process"]
    async fn works() {
        let (folder, fits): (PathBuf, bool) = orders();
        let store = Store::sqlite(folder.join("agent.db")).await.unwrap();
        let worker = worker(&store).tool::<Charge>(Teller(folder.join("bank")));
        let worker = if fits {
            worker.handler(rests::<first::AnyPayout>())
        } else {
            worker.handler(rests::<second::AnyPayout>())
        };
        let ended = worker.run_until_idle().await;
        store.close().await.unwrap();
        say(&ended.map_err(|error| error.to_string()));
    }

    fn runs(folder: &Path, fits: bool) -> Result<(), String> {
        let mut process = Process::start("worker::misfits::process::works", &(folder, fits));
        let ended = process.hear();
        process.join();
        ended
    }

    /// The rows of all tables.
    fn rows(file: &Path) -> String {
        let raw = Connection::open(file).unwrap();
        let all = |sql: &str| {
            let mut select = raw.prepare(sql).unwrap();
            let columns = select.column_count();
            let row = |row: &rusqlite::Row<'_>| (0..columns).map(|it| row.get(it)).collect();
            let rows = select.query_map([], row).unwrap();
            rows.collect::<rusqlite::Result<Vec<Vec<Value>>>>().unwrap()
        };
        let tables = all("SELECT name FROM sqlite_schema WHERE type = 'table'");
        let mut text = String::new();
        for table in tables {
            let [Value::Text(name)] = &table[..] else { panic!() };
            text = format!("{text}{name}: {:?}\n", all(&format!("SELECT * FROM {name}")));
        }
        text
    }

    /// It pays nothing, sets nothing aside, and changes nothing.
    #[tokio::test]
    async fn a_worker_that_does_not_fit_leaves_the_file_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let (file, bank) = (folder.path().join("agent.db"), folder.path().join("bank"));
        let store = Store::sqlite(&file).await.unwrap();
        let id = create(&store, payout()).await;
        let transfer = plan::<Charge>(&store, charge(500)).await;
        store.close().await.unwrap();
        let before = rows(&file);

        let text = runs(folder.path(), false).unwrap_err();
        let context = format!("the context of {id} does not match");
        contains(&text, &["it was not started, and no machine was changed", &context]);
        assert!(!bank.exists());
        assert_eq!(rows(&file), before);

        // The program that wrote it continues to run.
        assert_eq!(runs(folder.path(), true), Ok(()));
        assert_eq!(fs::read_to_string(&bank).unwrap(), "500");
        is(&Store::sqlite(&file).await.unwrap(), transfer, "completed").await;
    }
}
