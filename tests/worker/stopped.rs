//! A worker is asked to stop (SIGTERM) in the middle of a handler, or killed there. Leases last an
//! hour, so no test would wait for the end of one.

use crate::{
    effects::{
        bank::{Bank, Dedup},
        tool::{Teller, pay},
    },
    worker::{
        prelude::*,
        process::{Act, Office, Orders, letter::Status},
    },
};

const SOON: Duration = Duration::from_millis(50);

/// The letter was copied once.
async fn is_done_once(office: &Office) {
    assert_eq!(office.moves().await, ["write", "sign", "copy", "file"]);
    assert_eq!(office.store.children(office.letter).await.unwrap().len(), 1);
    office.assert_intact().await;
}

#[tokio::test]
async fn a_stopped_worker_finishes_its_handler_and_another_continues() {
    let office = Office::open().await;
    let orders = Orders { act: Act::Wait, stays: true, ..office.orders("A") };
    let mut a = office.in_the_handler(orders).await;
    let b = office.orders("B").start();
    a.terminate();
    a.hear_stopping();
    a.process.go();
    assert_eq!(a.report().states(), ["blank", "signed"]);
    // A is still there, so it is not its end that B notices.
    office.wait_until(Status::Filed).await;
    a.process.go();
    a.process.join();
    assert_eq!(b.stop().states(), ["copied"]);
    is_done_once(&office).await;
}

#[tokio::test]
async fn a_stopped_worker_hands_back_what_it_cannot_finish() {
    let office = Office::open().await;
    let orders = Orders { act: Act::Hang, stays: true, grace: SOON, ..office.orders("A") };
    let mut a = office.in_the_handler(orders).await;
    let b = office.orders("B").start();
    a.terminate();
    let report = a.stopped();
    assert_eq!(report.calls.last().unwrap().was_valid, None, "{report:?}");
    // A is still there, so it is not its end that B notices.
    office.wait_until(Status::Filed).await;
    a.process.go();
    a.process.join();
    assert_eq!(b.stop().states(), ["signed", "copied"]);
    is_done_once(&office).await;
}

#[tokio::test]
async fn others_do_not_wait_for_the_lease_of_a_killed_worker() {
    let office = Office::open().await;
    let a = office.in_the_handler(Orders { act: Act::Hang, ..office.orders("A") }).await;
    let b = office.orders("B").start();
    a.process.kill();
    office.wait_until(Status::Filed).await;
    assert_eq!(b.stop().states(), ["signed", "copied"]);
    is_done_once(&office).await;
}

/// The worker's clock stands still, so that it never sweeps: only a ring can wake it.
#[tokio::test]
async fn a_message_of_another_process_rings() {
    let office = Office::open().await;
    let b = Orders { clock_stands_still: true, ..office.orders("B") }.start();
    office.wait_until(Status::Written).await;
    let raw = rusqlite::Connection::open(&office.file).unwrap();
    until("no worker has the letter, and it is not due", async || {
        let parked = "SELECT worker IS NULL AND wake_at IS NULL FROM work";
        raw.query_row(parked, [], |row| row.get(0)).unwrap_or(false)
    })
    .await;
    office.sign().await;
    office.wait_until(Status::Filed).await;
    assert_eq!(b.stop().states(), ["blank", "written", "signed", "copied"]);
    is_done_once(&office).await;
}

/// Its outcome is unknown until A has ended; then the bank is asked. There is no second payment.
#[tokio::test]
async fn an_irreversible_call_does_not_move_when_its_worker_stops() {
    let (office, bank) = (Office::open().await, Bank::open(Dedup::Nothing));
    let id = create(&office.store, Execution::new(pay("bob"))).await;
    let pays = |name| office.pays(name, Teller::pays(&bank));
    bank.hold_replies();
    let mut a = Orders { stays: true, grace: SOON, ..pays("A") }.start();
    bank.wait_for_payments(1);
    let b = pays("B").start();
    a.terminate();
    a.stopped();
    bank.release();
    a.process.go();
    a.process.join();
    until("it is settled", async || state(&office.store, id).await == "completed").await;
    b.stop();
    assert_eq!(bank.count(), 1);
    office.assert_intact().await;
}
