//! Two processes with different handlers on one file: each drives its own machines only.

use std::{path::PathBuf, time::Duration};

use machine::{
    actor::Actors,
    store::{Message, OpenOptions, Query, Store},
    worker::{Failure, Handler, Next, Task, Worker},
};
use machine_tests::actors::{ann, graph_runner};
use tokio::signal::unix::{SignalKind, signal};

use crate::worker::process::{
    AnyLetter, AnySlip, Letter, Member, Orders, Process, Slip, close, letter, orders, say, until,
};

/// Tears slips.
struct Shredder;

impl Handler for Shredder {
    type Machine = AnySlip;

    async fn handle(&self, slip: AnySlip, _: &mut Task) -> Result<Next<AnySlip>, Failure> {
        Ok(match slip {
            AnySlip::Kept(slip) => Next::to(slip.tear(graph_runner())),
            AnySlip::Torn(_) => Next::Wait,
        })
    }
}

/// Drives slips until SIGTERM.
#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn shreds() {
    let file: PathBuf = orders();
    let store = Store::sqlite(file).await.unwrap();
    let mut terminated = signal(SignalKind::terminate()).unwrap();
    say(&std::process::id());
    let worker = Worker::new(&store, Actors::issue("shredder").unwrap()).handler(Shredder);
    let stop = async {
        terminated.recv().await;
    };
    worker.sweep(Duration::from_millis(100)).run_until(stop).await.unwrap();
    close(store).await;
}

async fn count(store: &Store, machine: &str, status: &str) -> usize {
    let page = store.list(&Query::new().machine(machine).status(status)).await.unwrap();
    assert!(page.next.is_none());
    page.items.into_iter().map(Result::unwrap).count()
}

#[tokio::test]
async fn each_worker_drives_its_own_machines() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent.db");
    let options = OpenOptions::new().machine::<AnyLetter>().machine::<AnySlip>();
    let store = options.sqlite(&file).await.unwrap();
    for number in 0..5 {
        let (mut letter, mut slip) = (Letter::new(), Slip::new(format!("slip {number}")));
        store.batch().create(&mut letter).create(&mut slip).write().await.unwrap();
        let sign = Message::new(&letter::Event::Sign, ann()).unwrap();
        store.send(letter.id(), &sign).await.unwrap();
    }
    // Slips wait until a worker has a handler for them.
    let clerk = Orders::new("clerk", &file).start();
    until("all letters are filed", || async { count(&store, "letter", "filed").await == 5 }).await;
    assert_eq!(count(&store, "slip", "torn").await, 0);

    let shredder = Member::of(Process::start("worker::kinds::shreds", &file));
    until("all slips are torn", || async { count(&store, "slip", "kept").await == 0 }).await;
    // The shredder leaves letters alone, also when it is the only one.
    let report = clerk.stop();
    let mut letter = Letter::new();
    let mut slip = Slip::new("last".to_owned());
    store.batch().create(&mut letter).create(&mut slip).write().await.unwrap();
    until("the last slip is torn", || async { count(&store, "slip", "kept").await == 0 }).await;
    assert_eq!(count(&store, "letter", "blank").await, 1);
    shredder.terminate();
    shredder.process.join();

    assert!(report.warnings.is_empty(), "{report:?}");
    assert!(store.verify_all(|_| {}).await.unwrap().is_clean());
    let set_aside = store.set_aside().await.unwrap();
    assert!(set_aside.machines.is_empty(), "{set_aside:?}");
}
