//! A worker that was asked to stop says what it waits for.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use machine::contract::{Answer, Applied, Call, Contract, Execution, Idempotent, Perform, Tool};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use crate::worker::support::{actors, create, each, worker};

#[derive(Debug, Serialize, Deserialize)]
struct Print {
    pages: u32,
}

impl Tool for Print {
    const SERVICE: &'static str = "office";
    const METHOD: &'static str = "print";
    type Effect = Idempotent;
    type Receipt = String;
}

/// It prints when it is let go.
#[derive(Clone, Default)]
struct Printer {
    prints: Arc<Notify>,
    go: Arc<Notify>,
}

impl Perform<Print> for Printer {
    async fn perform(&self, _: &Call<Print>) -> Answer {
        self.prints.notify_one();
        self.go.notified().await;
        Ok(Applied::new("printed"))
    }
}

/// The call ends only after the worker has said that it waits for it.
#[tokio::test]
async fn a_worker_says_how_many_calls_it_waits_for_and_for_how_long() {
    each(async |store| {
        let contract = Contract::of(&Print { pages: 3 }, &actors().reasoning_node).unwrap();
        let id = create(&store, Execution::new(contract)).await;
        let (printer, heard) = (Printer::default(), Arc::new(Mutex::new(Vec::new())));
        let (go, told) = (Arc::clone(&printer.go), Arc::clone(&heard));
        let running = worker(&store)
            .tool::<Print>(printer.clone())
            .grace(Duration::from_mins(1))
            .on_stop(move |stopping| {
                told.lock().unwrap().push((*stopping, stopping.to_string()));
                go.notify_one();
            })
            .start();
        printer.prints.notified().await;
        running.stop().await.unwrap();
        let heard = heard.lock().unwrap().clone();
        let [(stopping, text)] = &*heard else { panic!("{heard:?}") };
        assert_eq!((stopping.machines, stopping.calls), (1, 1));
        assert_eq!(stopping.grace, Duration::from_mins(1));
        assert_eq!(text, "stopping: waiting up to 60s for 1 call to finish");
        let done: machine::contract::AnyExecution = store.load(id).await.unwrap();
        assert!(matches!(done, machine::contract::AnyExecution::Completed(_)), "{done:?}");
    })
    .await;
}

#[tokio::test]
async fn a_worker_that_waits_for_nothing_says_nothing() {
    each(async |store| {
        let silent = worker(&store).on_stop(|stopping| panic!("{stopping}"));
        silent.run_until(std::future::ready(())).await.unwrap();
    })
    .await;
}
