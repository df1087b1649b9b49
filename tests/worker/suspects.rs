//! A machine that kills its process does not affect others: after two consecutive interrupted
//! attempts it is driven alone.

use std::path::PathBuf;

use crate::worker::{
    prelude::*,
    process::{Process, orders},
};

#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn opens_or_dies() {
    let (file, deadly): (PathBuf, Id) = orders();
    let store = Store::sqlite(file).await.unwrap();
    let handler = does(move |ticket, task| {
        let is_deadly = task.id() == deadly;
        Box::pin(async move {
            let AnyTicket::New(ticket) = ticket else { return Ok(Next::Wait) };
            // The others are in the middle of it.
            tokio::time::sleep(Duration::from_millis(if is_deadly { 20 } else { 100 })).await;
            if is_deadly {
                std::process::abort();
            }
            Ok(Next::to(ticket.open(graph_runner())))
        })
    });
    worker(&store).handler(handler).run_until_idle().await.unwrap();
}

#[tokio::test]
async fn a_deadly_handler_takes_no_others_with_it() {
    let (_folder, file) = new_file();
    let store = Store::sqlite(&file).await.unwrap();
    let mut ids = Vec::new();
    for _ in 0..12 {
        ids.push(ticket(&store).await);
    }
    let (orders, mut ended) = ((&file, ids[5]), 0);
    while !Process::start("worker::suspects::opens_or_dies", &orders).ended_well() {
        ended += 1;
        assert!(ended < 20, "it goes on killing");
    }
    set_aside(&store, &[(ids[5], "5 attempts ended without an answer, for example in a crash")])
        .await;
    assert_eq!(ended, 5);
    let open = store.list(&Query::new().status("open")).await.unwrap();
    assert_eq!(open.items.len(), 11);
}
