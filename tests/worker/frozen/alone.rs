//! A is frozen for longer than its lease, no worker takes over, and A thaws.

use crate::worker::{
    prelude::{Duration, until},
    process::{Act, Office, Orders, letter},
};

use super::signed;

/// For a worker that has to notice by itself, while it waits, that its lease has ended.
const LEASE: Duration = Duration::from_secs(3);

/// Waits until others may take over from a frozen worker.
async fn lease_has_ended(office: &Office) {
    let raw = rusqlite::Connection::open(&office.file).unwrap();
    until("the lease ends", async || {
        // While a worker has the lease, this is when it ends.
        let end = "SELECT wake_at FROM work WHERE worker IS NOT NULL";
        let end: i64 = raw.query_row(end, [], |row| row.get(0)).unwrap();
        end < machine::clock::now()
    })
    .await;
}

/// Its work under the old lease is not written; it repeats it under a new one.
async fn begins_again(act: Act) {
    let office = signed().await;
    let usual = office.orders("A");
    let lease = if act == Act::FreezeAndHang { LEASE } else { usual.lease };
    let mut a = Orders { act, lease, ..usual }.start();
    a.process.freeze_between_commits(&office.file);
    if act == Act::FreezeAndHang {
        lease_has_ended(&office).await;
    }
    let before = office.everything().await;
    assert_eq!(before.slips, ["the archive"]);
    a.process.thaw();
    office.wait_until(letter::Status::Filed).await;
    let report = a.stop();

    assert_eq!(report.states(), ["blank", "signed", "signed", "copied"]);
    let (first, second) = (&report.calls[1], &report.calls[2]);
    match act {
        // It was stopped where it waited.
        Act::FreezeAndHang => assert_eq!(first.was_valid, None, "{report:?}"),
        _ => assert_eq!(first.was_valid, Some(false), "{report:?}"),
    }
    assert_eq!(second.was_valid, Some(true), "{report:?}");
    assert!(second.token > first.token, "{report:?}");
    let after = office.everything().await;
    assert_eq!(office.moves().await, ["write", "sign", "copy", "file"]);
    assert_eq!(after.slips, ["child of A", "created by A", "the archive"]);
    assert_eq!(after.archive.len(), 1);
    office.assert_intact().await;
}

#[tokio::test]
async fn a_thawed_worker_does_not_write_under_a_lease_that_has_ended() {
    begins_again(Act::Freeze).await;
}

#[tokio::test]
async fn a_handler_is_stopped_where_it_waits_when_the_lease_has_ended() {
    begins_again(Act::FreezeAndHang).await;
}

/// A worker whose clock hides that from it writes, and that is legal: no other worker has had the
/// lease.
#[tokio::test]
async fn an_expired_lease_belongs_to_its_holder_until_a_takeover() {
    let office = signed().await;
    let frozen = Orders { act: Act::Freeze, clock_stands_still: true, ..office.orders("A") };
    let mut a = frozen.start();
    a.process.freeze_between_commits(&office.file);
    a.process.thaw();
    office.wait_until(letter::Status::Filed).await;
    let report = a.stop();
    assert_eq!(report.states(), ["blank", "signed", "copied"]);
    assert!(report.calls.iter().all(|call| call.token == report.calls[0].token), "{report:?}");
    assert_eq!(office.moves().await, ["write", "sign", "copy", "file"]);
    office.assert_intact().await;
}
