//! Settling the outcome of a permit.

use machine::{
    contract::{Applied, CallFact, Evidence, Settled, execution::Status, service_fn},
    journal::Fact,
    store::CommitError,
    typed::Refused,
};
use machine_tests::actors::tool_node;
use machine_tests::{assert_err, samples::mail};

use crate::store::support::{Place, applied, not_applied, on_both, unknown};

on_both! {
    applied_is_completed,
    not_applied_is_failed,
    unknown_is_in_doubt,
    a_panic_is_in_doubt,
    an_outcome_of_another_execution_is_refused,
    the_evidence_is_in_the_journal,
    an_error_is_unknown,
    a_machine_started_without_begin_is_returned,
}

/// A receipt makes it COMPLETED.
async fn applied_is_completed(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    let outcome = applied(permit, "250 queued as 4711").await;
    assert_eq!(outcome.evidence(), &Evidence::Applied("250 queued as 4711".to_owned()));
    let settled = place.store.settle(running, outcome, tool_node()).await.unwrap();
    let Settled::Completed(completed) = settled else { panic!("{settled:?}") };
    assert_eq!(completed.state().result, "250 queued as 4711");
    assert!(completed.journal().uncommitted().is_empty());
    assert_eq!(place.status(completed.id()).await, Status::Completed);
}

/// Evidence that nothing happened makes it FAILED.
async fn not_applied_is_failed(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    let outcome = not_applied(permit, "SMTP connection refused").await;
    let settled = place.store.settle(running, outcome, tool_node()).await.unwrap();
    let Settled::Failed(failed) = settled else { panic!("{settled:?}") };
    assert_eq!(failed.state().error, "SMTP connection refused");
    assert_eq!(place.status(failed.id()).await, Status::Failed);
}

/// Anything else is in doubt, with a question to a person.
async fn unknown_is_in_doubt(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    let outcome = unknown(permit, "read timed out").await;
    let settled = place.store.settle(running, outcome, tool_node()).await.unwrap();
    let Settled::InDoubt(doubt) = settled else { panic!("{settled:?}") };
    let question = doubt.question();
    assert!(question.contains("email.send → bob") && question.contains("read timed out"));
    assert_eq!(place.status(doubt.execution().id()).await, Status::Waiting);
    assert_eq!(place.recovered().await.len(), 1);
}

/// A panic in the tool is in doubt too, and the store keeps working.
async fn a_panic_is_in_doubt(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    let buggy = service_fn(|_call| Box::pin(async { panic!("a bug in the tool") }));
    let outcome = permit.call(buggy).await;
    assert!(matches!(outcome.evidence(), Evidence::Unknown(_)));
    let settled = place.store.settle(running, outcome, tool_node()).await.unwrap();
    assert!(matches!(settled, Settled::InDoubt(_)));
    let _ = place.done(mail("ann")).await;
}

/// An outcome settles only its own execution. The returned execution cannot be committed: there is
/// no evidence for it.
async fn an_outcome_of_another_execution_is_refused(place: Place) {
    let (mine, my_permit) = place.begun(mail("ann")).await;
    let (theirs, their_permit) = place.begun(mail("bob")).await;
    let (id, of) = (mine.id(), theirs.id());
    let outcome = applied(their_permit, "sent to bob").await;
    let before = place.dump().await;

    let Err(Refused { machine: (mine, _their_outcome), reason }) =
        place.store.settle(mine, outcome, tool_node()).await
    else {
        panic!("it accepted another execution's outcome");
    };
    assert_err!(Err::<(), _>(reason), CommitError::OtherOutcome { id: a, of: b }
        if *a == id && *b == of);
    assert_eq!(place.dump().await, before);
    assert_eq!([place.status(id).await, place.status(of).await], [Status::Running; 2]);

    // The refusal returns its arguments unchanged.
    let outcome = applied(my_permit, "sent to ann").await;
    let _ = place.store.settle(mine, outcome, tool_node()).await.unwrap();
    assert_eq!(place.status(id).await, Status::Completed);
}

/// The journal has the evidence before the terminal transition that depends on it.
async fn the_evidence_is_in_the_journal(place: Place) {
    let done = place.done(mail("bob")).await;
    let entries = place.entries(done.id()).await;
    let [.., evidence, end] = &entries[..] else { panic!("{entries:?}") };
    let Some(CallFact::Evidence { evidence, late: false, .. }) = CallFact::of(evidence) else {
        panic!("{entries:?}");
    };
    assert_eq!(evidence, Evidence::Applied("sent".to_owned()));
    assert!(matches!(&end.fact, Fact::Moved { to, .. } if to == "completed"), "{entries:?}");
}

/// `?` on any error means unknown, with the whole chain of causes.
async fn an_error_is_unknown(place: Place) {
    let (_running, permit) = place.begun(mail("bob")).await;
    let careless = service_fn(|_call| {
        Box::pin(async {
            let number: u32 = "seventeen".parse()?;
            Ok(Applied::new(number.to_string()))
        })
    });
    let outcome = permit.call(careless).await;
    let Evidence::Unknown(reason) = outcome.evidence() else { panic!("{outcome:?}") };
    assert!(reason.contains("invalid digit"), "{reason}");
}

/// A machine that was started without `begin` is returned, not settled.
async fn a_machine_started_without_begin_is_returned(place: Place) {
    let id = place.stored(mail("bob")).await.id();
    let started = place.pending(id).await.start(tool_node());
    let (running, permit) = place.store.begin(place.pending(id).await, tool_node()).await.unwrap();
    let outcome = applied(permit, "250 queued").await;

    let Err(Refused { machine: (_started, outcome), reason }) =
        place.store.settle(started, outcome, tool_node()).await
    else {
        panic!("it was settled");
    };
    assert_err!(Err::<(), _>(reason), CommitError::Refused { .. });
    // The outcome was returned too, so nothing is lost.
    let _ = place.store.settle(running, outcome, tool_node()).await.unwrap();
    assert_eq!(place.status(id).await, Status::Completed);
}
