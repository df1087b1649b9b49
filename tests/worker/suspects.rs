//! A machine that kills its process takes no others with it: what was cut short twice in a row is driven
//! alone.

use std::{path::PathBuf, time::Duration};

use machine::{
    machine,
    store::{Query, Store},
    worker::{Failure, Handler, Next, Task},
};
use serde::{Deserialize, Serialize};

use crate::worker::{
    process::{Process, orders},
    support::worker,
};

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Walk {
    #[initial]
    #[on(arrive => Arrived)]
    Begun { is_deadly: bool },
    #[terminal]
    Arrived,
}

struct Walks;

impl Handler for Walks {
    type Machine = AnyWalk;

    async fn handle(&self, walk: AnyWalk, _: &mut Task) -> Result<Next<AnyWalk>, Failure> {
        Ok(match walk {
            AnyWalk::Begun(walk) if walk.state().is_deadly => {
                // The others are in the middle of it.
                tokio::time::sleep(Duration::from_millis(20)).await;
                std::process::abort()
            }
            AnyWalk::Begun(walk) => {
                tokio::time::sleep(Duration::from_millis(100)).await;
                Next::to(walk.arrive())
            }
            AnyWalk::Arrived(_) => Next::Wait,
        })
    }
}

#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn walks() {
    let store = Store::sqlite(orders::<PathBuf>()).await.unwrap();
    worker(&store).handler(Walks).run_until_idle().await.unwrap();
}

#[tokio::test]
async fn a_deadly_handler_takes_no_others_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent.db");
    let store = Store::sqlite(&file).await.unwrap();
    let mut deadly = None;
    for number in 0..12 {
        let mut walk = Walk::new(number == 5);
        store.create(&mut walk).await.unwrap();
        if number == 5 {
            deadly = Some(walk.id());
        }
    }
    let mut ended = 0;
    while !Process::start("worker::suspects::walks", &file).ended_well() {
        ended += 1;
        assert!(ended < 20, "it goes on killing");
    }
    let set_aside = store.set_aside().await.unwrap().machines;
    let [(id, Some(error))] = &set_aside[..] else { panic!("{set_aside:?}") };
    assert_eq!(Some(*id), deadly);
    assert_eq!(error, "5 attempts ended without an answer, such as by a crash");
    assert_eq!(ended, 5);
    let arrived = store.list(&Query::new().status("arrived")).await.unwrap();
    assert_eq!(arrived.items.len(), 11);
}
