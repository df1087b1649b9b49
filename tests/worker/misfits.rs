//! A worker does not start while it cannot read what it is to drive.

use machine::{
    actor::GraphRunner,
    contract::{Answer, Applied, Call, Contract, Execution, Idempotent, Perform, Tool},
    machine,
    store::{CommitError, OpenError, OpenOptions, Store},
    worker::Next,
};
use serde::{Deserialize, Serialize};

use crate::support::{Does, actors, create, does, each, settle, worker};

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

/// It has `was`.
mod third {
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
        settle(worker(&store).tool::<first::PayBack>(Bank)).await;
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
