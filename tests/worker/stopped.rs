//! A worker is asked to stop (SIGTERM) in the middle of a handler, or killed there. Leases last an hour,
//! so no test would wait for the end of one.

use std::{path::PathBuf, time::Duration};

use machine::{
    Id,
    contract::{AnyExecution, Execution, execution},
    store::{Message, OpenOptions, Store},
};
use machine_tests::actors::ann;

use crate::{
    effects::{
        bank::{Bank, Dedup},
        tool::{Teller, pay},
    },
    worker::process::{Act, AnyLetter, AnySlip, Letter, Member, Orders, letter, until},
};

struct Desk {
    _folder: tempfile::TempDir,
    file: PathBuf,
    store: Store,
    letter: Id,
}

impl Desk {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("agent.db");
        let options = OpenOptions::new()
            .machine::<AnyLetter>()
            .machine::<AnySlip>()
            .machine::<AnyExecution>();
        let store = options.sqlite(&file).await.unwrap();
        let mut letter = Letter::new();
        store.create(&mut letter).await.unwrap();
        Self { _folder: folder, letter: letter.id(), file, store }
    }

    async fn sign(&self) {
        let sign = Message::new(&letter::Event::Sign, ann()).unwrap();
        self.store.send(self.letter, &sign).await.unwrap();
    }

    async fn wait_until(&self, status: letter::Status) {
        until(&format!("the letter is {status}"), || async {
            self.store.load::<AnyLetter>(self.letter).await.unwrap().status() == status
        })
        .await;
    }

    /// Waits until no worker has it, and none has a reason to look at it.
    async fn wait_until_parked(&self) {
        let raw = rusqlite::Connection::open(&self.file).unwrap();
        until("the letter is parked", || async {
            let parked = "SELECT worker IS NULL AND wake_at IS NULL FROM work";
            raw.query_row(parked, [], |row| row.get(0)).unwrap_or(false)
        })
        .await;
    }

    /// A worker that is in the handler of SIGNED.
    async fn in_the_handler(&self, orders: &Orders) -> Member {
        self.sign().await;
        let mut a = orders.start();
        assert_eq!(a.process.hear::<String>(), "in the handler");
        a
    }

    async fn assert_done_once(&self) {
        let history = self.store.history(self.letter).await.unwrap();
        assert_eq!(history.entries.len(), 5, "{:?}", history.entries);
        assert_eq!(self.store.children(self.letter).await.unwrap().len(), 1);
        let report = self.store.verify_all(|_| {}).await.unwrap();
        assert!(report.is_clean(), "{report:?}");
    }
}

#[tokio::test]
async fn a_stopped_worker_finishes_its_handler_and_another_one_goes_on() {
    let desk = Desk::new().await;
    let mut a = desk
        .in_the_handler(&Orders { act: Act::Wait, stays: true, ..Orders::new("A", &desk.file) })
        .await;
    let b = Orders::new("B", &desk.file).start();
    a.terminate();
    a.hear_stopping();
    a.process.go();
    let report = a.report();
    assert_eq!(report.states(), ["blank", "signed"]);
    // A is still there, so it is not its end that B notices.
    desk.wait_until(letter::Status::Filed).await;
    a.process.go();
    a.process.join();
    assert_eq!(b.stop().states(), ["copied"]);
    desk.assert_done_once().await;
}

#[tokio::test]
async fn a_stopped_worker_hands_back_what_it_cannot_finish() {
    let desk = Desk::new().await;
    let grace = Duration::from_millis(50);
    let orders = Orders { act: Act::Hang, stays: true, grace, ..Orders::new("A", &desk.file) };
    let mut a = desk.in_the_handler(&orders).await;
    let b = Orders::new("B", &desk.file).start();
    a.terminate();
    let report = a.stopped();
    assert_eq!(report.calls.last().unwrap().was_valid, None, "{report:?}");
    // A is still there, so it is not its end that B notices.
    desk.wait_until(letter::Status::Filed).await;
    a.process.go();
    a.process.join();
    assert_eq!(b.stop().states(), ["signed", "copied"]);
    desk.assert_done_once().await;
}

#[tokio::test]
async fn others_do_not_wait_for_the_lease_of_a_killed_worker() {
    let desk = Desk::new().await;
    let a = desk.in_the_handler(&Orders { act: Act::Hang, ..Orders::new("A", &desk.file) }).await;
    let b = Orders::new("B", &desk.file).start();
    a.process.kill();
    desk.wait_until(letter::Status::Filed).await;
    assert_eq!(b.stop().states(), ["signed", "copied"]);
    desk.assert_done_once().await;
}

/// The worker's clock stands still, so that it never sweeps: only a ring can wake it.
#[tokio::test]
async fn a_message_of_another_process_rings() {
    let desk = Desk::new().await;
    let b = Orders { clock_stands_still: true, ..Orders::new("B", &desk.file) }.start();
    desk.wait_until(letter::Status::Written).await;
    desk.wait_until_parked().await;
    desk.sign().await;
    desk.wait_until(letter::Status::Filed).await;
    assert_eq!(b.stop().states(), ["blank", "written", "signed", "copied"]);
    desk.assert_done_once().await;
}

/// Its outcome is unknown until A has ended; then the bank is asked. There is no second payment.
#[tokio::test]
async fn an_irreversible_call_does_not_move_when_its_worker_stops() {
    let desk = Desk::new().await;
    let bank = Bank::open(Dedup::Nothing);
    let mut payment = Execution::new(pay("bob"));
    desk.store.create(&mut payment).await.unwrap();
    let id = payment.id();
    let pays =
        |name: &str| Orders { teller: Some(Teller::pays(&bank)), ..Orders::new(name, &desk.file) };
    bank.hold_replies();
    let grace = Duration::from_millis(50);
    let mut a = Orders { stays: true, grace, ..pays("A") }.start();
    bank.wait_for_payments(1);
    let b = pays("B").start();
    a.terminate();
    a.stopped();
    bank.release();
    a.process.go();
    a.process.join();
    until("the payment is settled", || async {
        let payment: AnyExecution = desk.store.load(id).await.unwrap();
        payment.status() == execution::Status::Completed
    })
    .await;
    b.stop();
    assert_eq!(bank.count(), 1);
    let report = desk.store.verify_all(|_| {}).await.unwrap();
    assert!(report.is_clean(), "{report:?}");
}
