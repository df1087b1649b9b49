//! Calls outlive the worker that has begun them.

use std::{sync::Arc, time::Duration};

use machine::{
    contract::{
        Answer, AnyExecution, Applied, Call, Contract, Irreversible, Perform, Planned, Tool,
        execution::Status,
    },
    store::Store,
};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use crate::worker::support::{actors, each, worker};

#[derive(Debug, Serialize, Deserialize)]
struct Mail {
    to: String,
}

impl Tool for Mail {
    const SERVICE: &'static str = "email";
    const METHOD: &'static str = "send";
    type Effect = Irreversible;
    type Receipt = String;
}

/// Sends when the test says so.
#[derive(Clone)]
struct Post {
    entered: Arc<Semaphore>,
    sends: Arc<Semaphore>,
}

impl Perform<Mail> for Post {
    async fn perform(&self, _: &Call<Mail>) -> Answer {
        self.entered.add_permits(1);
        drop(self.sends.acquire().await?);
        Ok(Applied::new("sent"))
    }
}

#[derive(Clone, Copy)]
enum Ends {
    Stopped,
    Dropped,
}

/// Its receipt counts, without a doubt in between.
async fn is_kept(store: Store, ends: Ends) {
    let mail = Mail { to: "bob".to_owned() };
    let contract = Contract::of(&mail, &actors().reasoning_node).unwrap();
    let mut planned = Planned::<Mail>::new(contract).unwrap();
    store.plan(&mut planned).await.unwrap();
    let post = Post { entered: Arc::new(Semaphore::new(0)), sends: Arc::new(Semaphore::new(0)) };
    let first = worker(&store).tool::<Mail>(post.clone()).grace(Duration::ZERO);
    match ends {
        Ends::Stopped => {
            let running = first.start();
            drop(post.entered.acquire().await.unwrap());
            running.stop().await.unwrap();
        }
        Ends::Dropped => tokio::select! {
            ended = first.run_until(std::future::pending()) => panic!("{ended:?}"),
            entered = post.entered.acquire() => drop(entered.unwrap()),
        },
    }
    // Another worker of the process leaves the call alone.
    let second = worker(&store).tool::<Mail>(post.clone());
    second.run_until_idle().await.unwrap();
    let status = async || store.load::<AnyExecution>(planned.id()).await.unwrap().status();
    assert_eq!(status().await, Status::Running);
    post.sends.add_permits(1);
    let done = async {
        while status().await == Status::Running {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), done).await.unwrap();
    assert_eq!(status().await, Status::Completed);
}

#[tokio::test]
async fn of_a_worker_that_is_stopped() {
    each(async |store| is_kept(store, Ends::Stopped).await).await;
}

#[tokio::test]
async fn of_a_worker_that_is_dropped() {
    each(async |store| is_kept(store, Ends::Dropped).await).await;
}
