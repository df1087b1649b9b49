//! Two processes with different handlers on one file: each drives its own machines only.

use std::path::PathBuf;

use crate::worker::{
    prelude::*,
    process::{
        AnyLetter, AnySlip, Letter, Member, Orders, Process, Slip, close, letter, orders, work,
    },
};

/// Tears slips until SIGTERM.
#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn shreds() {
    let store = Store::sqlite(orders::<PathBuf>()).await.unwrap();
    let tears = moves(|slip, _| match slip {
        AnySlip::Kept(slip) => Next::to(slip.tear(graph_runner())),
        AnySlip::Torn(_) => Next::Wait,
    });
    work(worker(&store).sweep(Duration::from_millis(100)).handler(tears), false).await;
    close(store).await;
}

async fn count(store: &Store, machine: &str, status: &str) -> usize {
    let page = store.list(&Query::new().machine(machine).status(status)).await.unwrap();
    assert!(page.next.is_none());
    page.items.into_iter().map(Result::unwrap).count()
}

/// A letter and a slip.
async fn add(store: &Store, name: &str) -> Id {
    let (mut letter, mut slip) = (Letter::new(), Slip::new(name.to_owned()));
    store.batch().create(&mut letter).create(&mut slip).write().await.unwrap();
    letter.id()
}

#[tokio::test]
async fn each_worker_drives_its_own_machines() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent.db");
    let options = OpenOptions::new().machine::<AnyLetter>().machine::<AnySlip>();
    let store = options.sqlite(&file).await.unwrap();
    for number in 0..5 {
        let letter = add(&store, &format!("slip {number}")).await;
        let sign = Message::new(&letter::Event::Sign, ann()).unwrap();
        store.send(letter, &sign).await.unwrap();
    }
    // Slips wait until a worker has a handler for them.
    let clerk = Orders::new("clerk", &file).start();
    until("all letters are filed", async || count(&store, "letter", "filed").await == 5).await;
    assert_eq!(count(&store, "slip", "torn").await, 0);

    let shredder = Member::of(Process::start("worker::kinds::shreds", &file));
    until("all slips are torn", async || count(&store, "slip", "kept").await == 0).await;
    // The shredder leaves letters alone, also when it is the only one.
    let report = clerk.stop();
    add(&store, "last").await;
    until("the last slip is torn", async || count(&store, "slip", "kept").await == 0).await;
    assert_eq!(count(&store, "letter", "blank").await, 1);
    shredder.terminate();
    shredder.process.join();

    assert!(report.warnings.is_empty(), "{report:?}");
    assert!(store.verify_all(|_| {}).await.unwrap().is_clean());
    set_aside(&store, &[]).await;
}
