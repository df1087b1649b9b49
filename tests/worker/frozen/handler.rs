//! A is frozen while it works on a machine, B drives the machine to its end, A thaws.

use machine::store::Delivery;

use super::signed;
use crate::worker::process::{Act, Member, Orders, Report, letter};

/// The store's answer to a worker that writes under a lease that it has lost.
const REFUSED: &str = "machine.worker.lease_lost";

/// Lets B finish what A has begun, and A thaw. `knows` is whether A's clock shows it that its lease
/// has ended; otherwise the store must.
async fn taken_over(act: Act, knows: bool) {
    let office = signed().await;
    let frozen = Orders { act, clock_stands_still: !knows, ..office.orders("A") };
    let mut a = frozen.start();
    a.process.freeze_between_commits(&office.file);
    let b = Orders { is_later: true, ..office.orders("B") }.start();
    office.wait_until(letter::Status::Filed).await;
    let other = b.stop();
    let before = office.everything().await;

    let report = thaw(a);
    assert_eq!(office.everything().await, before);

    assert_eq!(office.moves().await, ["write", "sign", "copy", "file"]);
    assert_eq!(before.slips, ["child of B", "created by B", "the archive"]);
    assert_eq!(before.children.len(), 1);
    let messages: Vec<_> = before.archive.iter().map(|it| it.correlation.as_str()).collect();
    assert_eq!(messages, ["from B"]);
    let signature = &before.inbox[0];
    assert_eq!((before.inbox.len(), signature.status), (1, Delivery::Handled));
    assert_eq!(other.states(), ["signed", "copied"]);
    if act == Act::FreezeInGuard {
        assert_eq!(report.states(), ["blank"]);
        // Both have tried it, and that is counted.
        assert_eq!(signature.attempts, 2);
    } else {
        assert_eq!(report.states(), ["blank", "signed"]);
        assert_eq!(report.calls[1].was_valid, Some(!knows));
        assert!(other.calls[0].token > report.calls[1].token, "{other:?} {report:?}");
    }
    office.assert_intact().await;
}

/// Lets A thaw while B has the lease, and has not changed anything. So the token of the lease is
/// all that tells them apart.
async fn fenced(act: Act) {
    let office = signed().await;
    let frozen = |name: &str| Orders { act, clock_stands_still: true, ..office.orders(name) };
    let mut a = frozen("A").start();
    a.process.freeze_between_commits(&office.file);
    let mut b = Orders { is_later: true, ..frozen("B") }.start();
    b.process.freeze_between_commits(&office.file);
    let before = office.everything().await;

    let report = thaw(a);
    assert_eq!(office.everything().await, before);
    assert!(report.warns_of(REFUSED), "{report:?}");
    assert_eq!(before.slips, ["the archive"]);

    // B is not disturbed by that.
    b.process.thaw();
    office.wait_until(letter::Status::Filed).await;
    b.stop();
    let after = office.everything().await;
    assert_eq!(office.moves().await, ["write", "sign", "copy", "file"]);
    assert_eq!(after.slips, ["child of B", "created by B", "the archive"]);
    assert_eq!((after.inbox.len(), after.inbox[0].status), (1, Delivery::Handled));
    office.assert_intact().await;
}

/// Lets a process thaw that has been asked to stop, so that it ends what it has begun and does
/// nothing else.
fn thaw(mut member: Member) -> Report {
    member.terminate();
    member.process.thaw();
    let report = member.stopped();
    member.process.join();
    report
}

/// Neither a transition nor an acknowledgement, whether the worker or only the store knows.
#[tokio::test]
async fn a_thawed_worker_whose_machine_was_taken_over_writes_nothing() {
    for act in [Act::Freeze, Act::FreezeInGuard] {
        for knows in [true, false] {
            eprintln!("{act:?}, knows: {knows}");
            taken_over(act, knows).await;
        }
    }
}

#[tokio::test]
async fn a_transition_and_an_acknowledgement_under_a_lost_lease_are_refused() {
    for act in [Act::Freeze, Act::FreezeInGuard] {
        eprintln!("{act:?}");
        fenced(act).await;
    }
}
