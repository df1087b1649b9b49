//! Settling the outcome of a permit.

use machine::{
    actor::ToolNode,
    contract::{Applied, Settled, execution::Status},
    journal::{Evidence, Fact},
    store::StoreError,
    typed::Refused,
};
use machine_tests::{assert_err, samples::mail};

use crate::support::{Place, applied, not_applied, unknown};

/// A receipt makes it COMPLETED.
#[tokio::test]
async fn applied_is_completed() {
    let place = Place::new();
    let (running, permit) = place.begun(mail("bob")).await;
    let outcome = applied(permit, "250 queued as 4711").await;
    assert_eq!(outcome.evidence(), &Evidence::Applied("250 queued as 4711".to_owned()));
    let settled = place.store.settle(running, outcome, &ToolNode).await.unwrap();
    let Settled::Completed(completed) = settled else { panic!("{settled:?}") };
    assert_eq!(completed.state().result, "250 queued as 4711");
    assert!(completed.journal().uncommitted().is_empty());
    assert_eq!(place.status(completed.id()).await, Status::Completed);
}

/// Evidence that nothing happened makes it FAILED.
#[tokio::test]
async fn not_applied_is_failed() {
    let place = Place::new();
    let (running, permit) = place.begun(mail("bob")).await;
    let outcome = not_applied(permit, "SMTP connection refused").await;
    let settled = place.store.settle(running, outcome, &ToolNode).await.unwrap();
    let Settled::Failed(failed) = settled else { panic!("{settled:?}") };
    assert_eq!(failed.state().error, "SMTP connection refused");
    assert_eq!(place.status(failed.id()).await, Status::Failed);
}

/// Anything else is in doubt, with a question to a person.
#[tokio::test]
async fn unknown_is_in_doubt() {
    let place = Place::new();
    let (running, permit) = place.begun(mail("bob")).await;
    let outcome = unknown(permit, "read timed out").await;
    let settled = place.store.settle(running, outcome, &ToolNode).await.unwrap();
    let Settled::InDoubt(doubt) = settled else { panic!("{settled:?}") };
    let question = doubt.question();
    assert!(question.contains("email.send → bob") && question.contains("read timed out"));
    assert_eq!(place.status(doubt.execution().id()).await, Status::Waiting);
    assert_eq!(place.store.recover().await.unwrap().len(), 1);
}

/// A panic in the tool is in doubt too, and the store keeps working.
#[tokio::test]
async fn a_panic_is_in_doubt() {
    let place = Place::new();
    let (running, permit) = place.begun(mail("bob")).await;
    let outcome = permit.call(async |_permit| panic!("a bug in the tool")).await;
    assert!(matches!(outcome.evidence(), Evidence::Unknown(_)));
    let settled = place.store.settle(running, outcome, &ToolNode).await.unwrap();
    assert!(matches!(settled, Settled::InDoubt(_)));
    let _ = place.done(mail("ann")).await;
}

/// An outcome settles only its own execution. The returned execution cannot be committed: there is
/// no evidence for it.
#[tokio::test]
async fn an_outcome_of_another_execution_is_refused() {
    let place = Place::new();
    let (mine, my_permit) = place.begun(mail("ann")).await;
    let (theirs, their_permit) = place.begun(mail("bob")).await;
    let (id, of) = (mine.id(), theirs.id());
    let outcome = applied(their_permit, "sent to bob").await;
    let before = place.dump();

    let Err(Refused { machine: (mine, _their_outcome), reason }) =
        place.store.settle(mine, outcome, &ToolNode).await
    else {
        panic!("it accepted another execution's outcome");
    };
    assert_err!(Err::<(), _>(reason), StoreError::OtherOutcome { id: a, of: b }
        if *a == id && *b == of);
    assert_eq!(place.dump(), before);
    assert_eq!([place.status(id).await, place.status(of).await], [Status::Running; 2]);

    // The refusal returns its arguments unchanged.
    let outcome = applied(my_permit, "sent to ann").await;
    let _ = place.store.settle(mine, outcome, &ToolNode).await.unwrap();
    assert_eq!(place.status(id).await, Status::Completed);
}

/// The journal has the evidence before the terminal transition that depends on it.
#[tokio::test]
async fn the_evidence_is_in_the_journal() {
    let place = Place::new();
    let done = place.done(mail("bob")).await;
    let facts: Vec<_> = done.journal().entries().iter().map(|entry| &entry.fact).collect();
    let [.., Fact::Evidence { evidence, late: false, .. }, Fact::Moved { to, .. }] = &facts[..]
    else {
        panic!("{facts:?}");
    };
    assert_eq!(evidence, &Evidence::Applied("sent".to_owned()));
    assert_eq!(to, "completed");
}

/// `?` on any error means unknown, with the whole chain of causes.
#[tokio::test]
async fn an_error_is_unknown() {
    let place = Place::new();
    let (_running, permit) = place.begun(mail("bob")).await;
    let outcome = permit
        .call(async |_permit| {
            let number: u32 = "seventeen".parse()?;
            Ok(Applied::new(number.to_string()))
        })
        .await;
    let Evidence::Unknown(reason) = outcome.evidence() else { panic!("{outcome:?}") };
    assert!(reason.contains("invalid digit"), "{reason}");
}

/// A machine that was started without `begin` is returned, not settled.
#[tokio::test]
async fn a_machine_started_without_begin_is_returned() {
    let place = Place::new();
    let id = place.stored(mail("bob")).await.id();
    let started = place.pending(id).await.start(&ToolNode);
    let (running, permit) = place.store.begin(place.pending(id).await, &ToolNode).await.unwrap();
    let outcome = applied(permit, "250 queued").await;

    let Err(Refused { machine: (_started, outcome), reason }) =
        place.store.settle(started, outcome, &ToolNode).await
    else {
        panic!("it was settled");
    };
    assert_err!(Err::<(), _>(reason), StoreError::Refused { .. });
    // The outcome was returned too, so nothing is lost.
    let _ = place.store.settle(running, outcome, &ToolNode).await.unwrap();
    assert_eq!(place.status(id).await, Status::Completed);
}
