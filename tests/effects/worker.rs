//! The worker: another process that performs an execution, and says how it ended.

use std::path::{Path, PathBuf};

use machine_tests::{
    class,
    process::{Process, freeze, orders, say, wait},
};
use serde::{Deserialize, Serialize};

use crate::effects::{
    prelude::*,
    support::loaded,
    tool::{Pay, Teller},
};

/// The orders of a worker.
#[derive(Debug, Serialize, Deserialize)]
struct Orders {
    file: PathBuf,
    id: Id,
    teller: Teller,
}

/// The final report of a worker.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Report {
    /// With the receipt.
    Completed(String),
    InDoubt,
    /// It is no longer PENDING.
    NotPending,
    /// It was refused, with the name of the error: nothing was called.
    NotBegun(String),
    /// It was called, and the others had moved on without it: its answer is late.
    Late(Evidence),
}

/// Starts the worker `kind`, one of the tests below.
pub(crate) fn start(kind: &str, file: &Path, id: Id, teller: Teller) -> Process {
    Process::start(
        &format!("effects::worker::{kind}"),
        &Orders { file: file.to_owned(), id, teller },
    )
}

/// Runs a worker that is not disturbed, until it has ended.
pub(crate) fn run(kind: &str, file: &Path, id: Id, teller: Teller) -> Report {
    let mut worker = start(kind, file, id, teller);
    let report = worker.hear();
    worker.join();
    report
}

#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn pays() {
    performs::<Pay>(|| {}).await;
}

/// For a payment that is known at run time only.
#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn acts() {
    performs::<Action>(|| {}).await;
}

/// Stops with its permit in its hands, before it calls the service.
#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn freezes_and_pays() {
    performs::<Pay>(freeze).await;
}

/// Drops its call on a signal of the parent, and stays alive until the next one.
#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn cancels() {
    let Orders { file, id, teller } = orders();
    let store = Store::sqlite(file).await.unwrap();
    let planned: Planned<Pay> = loaded(&store, id).await;
    tokio::select! {
        ended = store.perform(planned, teller, tool_node()) => panic!("{ended:?}"),
        dropped = tokio::task::spawn_blocking(wait) => dropped.unwrap(),
    }
    say(&"dropped");
    tokio::task::spawn_blocking(wait).await.unwrap();
    let found = store.recover().await.unwrap().in_doubt;
    say(&found.iter().map(|doubt| doubt.id()).collect::<Vec<_>>());
}

/// Performs an execution, and waits for the answer for as long as that takes.
async fn performs<T: Callable>(before_the_call: fn())
where
    Teller: Perform<T>,
{
    let Orders { file, id, teller } = orders();
    let store = Store::sqlite(file).await.unwrap();
    say(&performed::<T>(&store, id, teller, before_the_call).await);
    // In order, so that the file has everything if this was the last process that used it.
    store.close().await.unwrap();
}

async fn performed<T: Callable>(
    store: &Store,
    id: Id,
    teller: Teller,
    before_the_call: fn(),
) -> Report
where
    Teller: Perform<T>,
{
    let mut waits = false;
    let (running, permit) = loop {
        let pending = match store.load(id).await {
            Ok(AnyExecution::Pending(pending)) => pending,
            Ok(_) => return Report::NotPending,
            Err(error) => return Report::NotBegun(class(&error)),
        };
        let planned: Planned<T> = Planned::of(pending).unwrap();
        match store.begin(planned, tool_node()).await {
            Ok(begun) => break begun,
            Err(refused) => match refused.reason {
                // It waits for an answer that another process gives.
                EffectError::Deferred { .. } if teller.waits_for_approval => {
                    if !std::mem::replace(&mut waits, true) {
                        say(&"deferred");
                    }
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                reason => return Report::NotBegun(class(&reason)),
            },
        }
    };
    before_the_call();
    let teller_leaves = teller.leaves_at_timeout;
    let outcome = permit.call(teller).await;
    match store.settle(running, outcome, tool_node()).await {
        Ok(Settled::Completed(done)) => Report::Completed(done.state().result.clone()),
        Ok(Settled::InDoubt(_)) => Report::InDoubt,
        Ok(other @ (Settled::Failed(_) | Settled::Accepted(_))) => panic!("{other:?}"),
        Ok(Settled::TimedOut(..)) if teller_leaves => Report::InDoubt,
        Ok(Settled::TimedOut(_, late) | Settled::Fenced(_, late)) => {
            Report::Late(late.await.unwrap())
        }
        Err(refused) => {
            assert_eq!(class(&refused.reason), "Fenced");
            Report::Late(refused.machine.1.evidence().clone())
        }
    }
}
