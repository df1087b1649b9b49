//! A worker does not start while it cannot read what it is to drive.

use machine::{
    actor::GraphRunner,
    contract::{Answer, Applied, Call, Contract, Execution, Idempotent, Perform, Tool},
    machine,
    store::{CommitError, OpenError, OpenOptions, Store},
    stored::Context,
    worker::Next,
};
use serde::{Deserialize, Serialize};

use crate::worker::support::{Does, actors, create, does, each, settle, worker};

mod first {
    use super::*;

    #[machine(durable)]
    #[derive(Debug, Serialize, Deserialize)]
    pub(super) enum Refund {
        #[initial]
        #[on(stop(why) => Stuck, by = GraphRunner)]
        #[on(pay => Paid, by = GraphRunner)]
        Received,
        #[stable]
        #[on(pay => Paid, by = GraphRunner)]
        Stuck { why: String },
        #[terminal]
        Paid,
    }

    #[derive(Debug, Serialize, Deserialize)]
    pub(super) struct PayBack {
        pub(super) amount: u32,
    }

    impl Tool for PayBack {
        const SERVICE: &'static str = "payments";
        const METHOD: &'static str = "refund";
        type Effect = Idempotent;
        type Receipt = String;
    }
}

mod second {
    use super::*;

    #[machine(durable)]
    #[derive(Debug, Serialize, Deserialize)]
    pub(super) enum Refund {
        #[initial]
        #[on(stop(problem) => Stuck, by = GraphRunner)]
        #[on(pay => Paid, by = GraphRunner)]
        Received,
        #[stable]
        #[on(pay => Paid, by = GraphRunner)]
        Stuck { problem: String },
        #[terminal]
        Paid,
    }

    #[derive(Debug, Serialize, Deserialize)]
    pub(super) struct PayBack {
        amount: u32,
        currency: String,
    }

    impl Tool for PayBack {
        const SERVICE: &'static str = "payments";
        const METHOD: &'static str = "refund";
        type Effect = Idempotent;
        type Receipt = String;
    }
}

/// It has `was`, and a default.
mod third {
    use super::*;

    #[derive(Debug, Serialize, Deserialize)]
    pub(super) struct PayBack {
        amount: u32,
        #[serde(default = "euro")]
        currency: String,
    }

    fn euro() -> String {
        "EUR".to_owned()
    }

    impl Tool for PayBack {
        const SERVICE: &'static str = "payments";
        const METHOD: &'static str = "refund";
        type Effect = Idempotent;
        type Receipt = String;
    }

    #[machine(durable)]
    #[derive(Debug, Serialize, Deserialize)]
    pub(super) enum Refund {
        #[initial]
        #[on(stop(problem) => Stuck, by = GraphRunner)]
        #[on(pay => Paid, by = GraphRunner)]
        Received,
        #[stable]
        #[on(pay => Paid, by = GraphRunner)]
        Stuck {
            #[was = "why"]
            problem: String,
        },
        #[terminal]
        Paid,
    }
}

struct Bank;

impl<T: Tool<Receipt = String>> Perform<T> for Bank {
    async fn perform(&self, _: &Call<T>) -> Answer {
        Ok(Applied::new("paid"))
    }
}

fn rests<M>() -> Does<M> {
    does(|_, _| Box::pin(async { Ok(Next::Wait) }))
}

/// A program whose context has another field, and whose definition is the same.
macro_rules! payout {
    ($program:ident, $(#[$attribute:meta])* $field:ident) => {
        mod $program {
            use super::*;

            #[derive(Debug, Serialize, Deserialize)]
            pub(super) struct Terms {
                $(#[$attribute])*
                pub(super) $field: String,
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
        }
    };
}

payout!(iban, iban);
payout!(renamed, account);
payout!(
    aliased,
    #[serde(alias = "iban")]
    account
);

fn payout() -> iban::Payout<iban::payout::Approved> {
    iban::Payout::new(iban::Terms { iban: "DE02".to_owned() })
}

async fn refused(worker: machine::worker::Worker) -> String {
    let check = worker.check().await.unwrap();
    match worker.run_until_idle().await {
        Err(CommitError::Incompatible { check: found }) => {
            assert_eq!(*found, check);
            check.to_string()
        }
        other => panic!("{other:?}\n{check}"),
    }
}

#[tokio::test]
async fn a_machine_that_does_not_fit_keeps_a_worker_from_starting() {
    each(async |store| {
        let runner = &actors().graph_runner;
        let fits = create(&store, first::Refund::new()).await;
        let stuck = create(&store, first::Refund::new().stop("rain".to_owned(), runner)).await;
        let text = refused(worker(&store).handler(rests::<second::AnyRefund>())).await;
        assert!(text.contains(&stuck.to_string()), "{text}");
        assert!(!text.contains(&fits.to_string()), "{text}");
        assert!(text.contains("`#[was = \"why\"]` on `problem`"), "{text}");
        assert_eq!(store.workers().await.unwrap(), []);
        settle(worker(&store).handler(rests::<third::AnyRefund>())).await;
        // The first program can drive what it has written, and once that has ended, any can.
        settle(worker(&store).handler(rests::<first::AnyRefund>())).await;
        let loaded: first::AnyRefund = store.load(stuck).await.unwrap();
        let first::AnyRefund::Stuck(loaded) = loaded else { panic!("{loaded:?}") };
        store.commit(&mut loaded.pay(runner)).await.unwrap();
        settle(worker(&store).handler(rests::<second::AnyRefund>())).await;
    })
    .await;
}

/// A definition has no fields of a context, so the machines are read.
#[tokio::test]
async fn a_context_that_does_not_fit_keeps_a_worker_from_starting() {
    each(async |store| {
        let runner = &actors().graph_runner;
        let id = create(&store, payout()).await;
        let ended = create(&store, payout().pay(runner)).await;
        let text = refused(worker(&store).handler(rests::<renamed::AnyPayout>())).await;
        assert!(text.contains("payout: 1 checked, 1 cannot be read"), "{text}");
        assert!(text.contains(&format!("the context of {id} does not match")), "{text}");
        assert!(text.contains("missing field `account`"), "{text}");
        assert!(text.contains("`#[serde(alias = \"..\")]`"), "{text}");
        assert!(!text.contains(&ended.to_string()), "{text}");
        assert_eq!(store.workers().await.unwrap(), []);
        settle(worker(&store).handler(rests::<aliased::AnyPayout>())).await;
        // Now workers drive the kind, and the machine that has ended is still not read.
        let text = refused(worker(&store).handler(rests::<renamed::AnyPayout>())).await;
        assert!(text.contains("payout: 1 checked, 1 cannot be read"), "{text}");
        let loaded: iban::AnyPayout = store.load(id).await.unwrap();
        let iban::AnyPayout::Approved(loaded) = loaded else { panic!("{loaded:?}") };
        store.commit(&mut loaded.pay(runner)).await.unwrap();
        settle(worker(&store).handler(rests::<renamed::AnyPayout>())).await;
    })
    .await;
}

/// Of many machines, the oldest and the newest are read.
#[tokio::test]
async fn the_oldest_and_the_newest_machines_are_read_before_the_start() {
    each(async |store| {
        let many =
            |terms: fn() -> renamed::Terms| (0..600).map(move |_| renamed::Payout::new(terms()));
        let mut fit: Vec<_> = many(|| renamed::Terms { account: "DE02".to_owned() }).collect();
        let mut batch = store.batch();
        for machine in &mut fit {
            batch = batch.create(machine);
        }
        batch.write().await.unwrap();
        settle(worker(&store).handler(rests::<renamed::AnyPayout>())).await;
        let newest = create(&store, payout()).await;
        let text = refused(worker(&store).handler(rests::<renamed::AnyPayout>())).await;
        assert!(text.contains("payout: 601 checked, 1 cannot be read"), "{text}");
        assert!(text.contains(&newest.to_string()), "{text}");
    })
    .await;
}

#[cfg(unix)]
mod process {
    use std::{
        fs,
        path::{Path, PathBuf},
    };

    use machine::contract::{AnyExecution, Irreversible, Planned};

    use super::*;
    use crate::worker::process::{Process, orders, say};

    #[derive(Debug, Serialize, Deserialize)]
    struct Transfer {
        cents: u32,
    }

    impl Tool for Transfer {
        const SERVICE: &'static str = "bank";
        const METHOD: &'static str = "transfer";
        type Effect = Irreversible;
        type Receipt = String;
    }

    /// A bank that is a file.
    struct Teller(PathBuf);

    impl Perform<Transfer> for Teller {
        async fn perform(&self, call: &Call<Transfer>) -> Answer {
            fs::write(&self.0, call.arguments().cents.to_string())?;
            Ok(Applied::new("transferred"))
        }
    }

    #[derive(Debug, Serialize, Deserialize)]
    struct Orders {
        folder: PathBuf,
        renamed: bool,
    }

    #[tokio::test]
    #[ignore = "another test runs it as another process"]
    async fn works() {
        let Orders { folder, renamed } = orders();
        let store = Store::sqlite(folder.join("agent.db")).await.unwrap();
        let worker = worker(&store).tool::<Transfer>(Teller(folder.join("bank")));
        let ended = if renamed {
            worker.handler(rests::<renamed::AnyPayout>()).run_until_idle().await
        } else {
            worker.handler(rests::<iban::AnyPayout>()).run_until_idle().await
        };
        store.close().await.unwrap();
        say(&ended.map_err(|error| error.to_string()));
    }

    fn runs(folder: &Path, renamed: bool) -> Result<(), String> {
        let folder = folder.to_owned();
        let mut process =
            Process::start("worker::misfits::process::works", &Orders { folder, renamed });
        let ended = process.hear();
        process.join();
        ended
    }

    /// It pays nothing, sets nothing aside, and changes nothing.
    #[tokio::test]
    async fn a_worker_that_does_not_fit_leaves_the_file_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let (file, bank) = (folder.path().join("agent.db"), folder.path().join("bank"));
        let store = Store::sqlite(&file).await.unwrap();
        let id = create(&store, payout()).await;
        let reasoner = &actors().reasoning_node;
        let mut transfer =
            Planned::<Transfer>::new(Contract::of(&Transfer { cents: 500 }, reasoner).unwrap())
                .unwrap();
        store.plan(&mut transfer).await.unwrap();
        store.close().await.unwrap();
        let before = fs::read(&file).unwrap();

        let refused = runs(folder.path(), true).unwrap_err();
        assert!(refused.contains("it was not started, and nothing was changed"), "{refused}");
        assert!(refused.contains(&format!("the context of {id} does not match")), "{refused}");
        assert!(!bank.exists());
        assert!(fs::read(&file).unwrap() == before, "the file was changed");

        // The program that wrote it continues to run.
        assert_eq!(runs(folder.path(), false), Ok(()));
        assert_eq!(fs::read_to_string(&bank).unwrap(), "500");
        let store = Store::sqlite(&file).await.unwrap();
        let done: AnyExecution = store.load(transfer.id()).await.unwrap();
        assert!(matches!(done, AnyExecution::Completed(_)), "{done:?}");
    }
}

/// Another program may have written it since this one began.
#[tokio::test]
async fn what_newer_programs_have_written_is_left_to_them() {
    each(async |store| {
        settle(worker(&store).handler(rests::<first::AnyRefund>())).await;
        let runner = &actors().graph_runner;
        create(&store, second::Refund::new().stop("rain".to_owned(), runner)).await;
        settle(worker(&store).handler(rests::<first::AnyRefund>())).await;
    })
    .await;
}

async fn call(store: &Store) -> machine::Id {
    let contract = Contract::of(&first::PayBack { amount: 3 }, &actors().reasoning_node).unwrap();
    let mut pending = Execution::new(contract);
    store.create(&mut pending).await.unwrap();
    pending.id()
}

#[tokio::test]
async fn arguments_that_do_not_fit_keep_a_worker_from_starting() {
    each(async |store| {
        let id = call(&store).await;
        let text = refused(worker(&store).tool::<second::PayBack>(Bank)).await;
        assert!(text.contains("calls of payments.refund: 1 checked, 1 cannot be read"), "{text}");
        assert!(text.contains(&format!("{id} in `pending`")), "{text}");
        assert!(text.contains("missing field `currency`"), "{text}");
        assert!(text.contains("`#[serde(default)]` on an argument that was added"), "{text}");
        assert!(!text.contains("pass arguments"), "{text}");
        settle(worker(&store).tool::<third::PayBack>(Bank)).await;
        let done: machine::contract::AnyExecution = store.load(id).await.unwrap();
        assert!(done.journal().uncommitted().is_empty());
        settle(worker(&store).tool::<second::PayBack>(Bank)).await;
    })
    .await;
}

/// A program that declares its tools hears of it when it opens the file.
#[tokio::test]
async fn declared_tools_are_checked_when_a_file_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent.db");
    let store = Store::sqlite(&file).await.unwrap();
    let id = call(&store).await;
    let options = OpenOptions::new().tool::<second::PayBack>();
    let check = options.check(&file).await.unwrap();
    assert_eq!(check.tools[0].blocked[0].id, id);
    let opened = options.sqlite(&file).await;
    assert!(matches!(opened, Err(OpenError::Incompatible { .. })), "{opened:?}");
    OpenOptions::new().tool::<first::PayBack>().sqlite(&file).await.unwrap();
}
