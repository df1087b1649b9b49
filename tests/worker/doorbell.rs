//! News of a commit is about latency only.

use crate::worker::prelude::*;

/// Two handles of one file tell each other of commits only through the file. Even if that were
/// lost: the sweep.
#[tokio::test]
async fn sweep_finds_what_another_handle_committed() {
    let (_folder, path) = new_file();
    let (ours, theirs) = (Store::sqlite(&path).await.unwrap(), Store::sqlite(&path).await.unwrap());
    let running = worker(&ours).sweep(Duration::from_millis(5)).handler(opens()).start();
    for _ in 0..5 {
        let id = ticket(&theirs).await;
        theirs.send(id, &says(PAY, "pay")).await.unwrap();
        until("it is paid", async || state(&theirs, id).await == "paid").await;
    }
    running.stop().await.unwrap();
}
