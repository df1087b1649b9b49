//! Settling the outcome of a permit, and finding the executions whose outcome never came.

use crate::{effects::prelude::*, store::child};

on_file! {
    an_answer_decides_how_it_ends,
    an_outcome_of_another_execution_is_refused,
    a_machine_started_without_begin_is_returned,
    what_was_dropped_without_an_outcome_is_in_doubt,
    the_rest_is_left_alone,
    a_person_settles_a_doubt,
    two_answers_and_one_counts,
}

/// A receipt makes it COMPLETED, evidence that nothing happened FAILED. Anything else is in doubt,
/// with a question to a person: an error, which has the whole chain of its causes, and a panic of
/// the tool.
async fn an_answer_decides_how_it_ends(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    let outcome = applied(permit, "250 queued as 4711").await;
    assert_eq!(outcome.evidence(), &Evidence::Applied("250 queued as 4711".to_owned()));
    let settled = place.settled(running, outcome).await;
    let Settled::Completed(done) = settled else { panic!("{settled:?}") };
    assert_eq!(done.state().result, "250 queued as 4711");
    assert!(done.journal().uncommitted().is_empty());
    assert_eq!(place.status(done.id()).await, Status::Completed);
    // The journal has the evidence before the transition that depends on it.
    let entries = place.entries(done.id()).await;
    let [.., evidence, end] = &entries[..] else { panic!("{entries:?}") };
    assert_is!(CallFact::of(evidence),
        Some(CallFact::Evidence { evidence: Evidence::Applied(text), late: false, .. })
        if text == "250 queued as 4711");
    assert!(matches!(&end.fact, Fact::Moved { to, .. } if to == "completed"), "{entries:?}");

    let failed = place.failed(mail("carl")).await;
    assert_eq!(failed.state().error, "connection refused");
    assert_eq!(place.status(failed.id()).await, Status::Failed);

    let lost = answers(Err(NoReceipt::unknown("read timed out")));
    leaves_a_doubt(&place, "read timed out", lost).await;
    let buggy = service_fn(|_: &Call<Action>| Box::pin(async { panic!("a bug in the tool") }));
    leaves_a_doubt(&place, "", buggy).await;
    let careless = service_fn(|_: &Call<Action>| {
        Box::pin(async {
            let number: u32 = "seventeen".parse()?;
            Ok(Applied::new(number.to_string()))
        })
    });
    leaves_a_doubt(&place, "invalid digit", careless).await;
    let _ = place.done(mail("ann")).await;
}

async fn leaves_a_doubt(place: &Place, reason: &str, service: impl Perform<Action> + 'static) {
    let (running, permit) = place.begun(mail("dora")).await;
    let id = running.id();
    let outcome = permit.call(service).await;
    assert_is!(outcome.evidence(), Evidence::Unknown(why) if why.contains(reason));
    let settled = place.settled(running, outcome).await;
    let Settled::InDoubt(doubt) = settled else { panic!("{settled:?}") };
    let question = doubt.question();
    assert!(question.contains("email.send → dora") && question.contains(reason), "{question}");
    assert_eq!(place.status(id).await, Status::Waiting);
    let _ = place.overrule(place.doubt().await).await;
}

/// An outcome settles only its own execution. The returned execution cannot be committed: there is
/// no evidence for it.
async fn an_outcome_of_another_execution_is_refused(place: Place) {
    let (mine, my_permit) = place.begun(mail("ann")).await;
    let (theirs, their_permit) = place.begun(mail("bob")).await;
    let (id, of) = (mine.id(), theirs.id());
    let outcome = applied(their_permit, "sent to bob").await;
    let before = place.dump();
    let refused = place.store.settle(mine, outcome, tool_node()).await.unwrap_err();
    assert_is!(refused.reason, EffectError::OtherOutcome { id: a, of: b } if (*a, *b) == (id, of));
    assert_eq!(place.dump(), before);
    assert_eq!([place.status(id).await, place.status(of).await], [Status::Running; 2]);

    // The refusal returns its arguments unchanged.
    let (mine, their_outcome) = refused.machine;
    let outcome = applied(my_permit, "sent to ann").await;
    for (running, outcome) in [(mine, outcome), (theirs, their_outcome)] {
        let settled = place.settled(running, outcome).await;
        assert_is!(settled, Settled::Completed(_));
    }
}

/// A machine that was started without `begin` is returned, not settled.
async fn a_machine_started_without_begin_is_returned(place: Place) {
    let id = place.stored(mail("bob")).await.id();
    let started = place.pending(id).await.start(tool_node());
    let (running, permit) = begin(&place.store, place.pending(id).await).await.unwrap();
    let outcome = applied(permit, "250 queued").await;
    let refused = place.store.settle(started, outcome, tool_node()).await.unwrap_err();
    assert_is!(refused.reason, EffectError::Commit(CommitError::Refused { .. }));
    // The outcome was returned too, so nothing is lost.
    let _ = place.store.settle(running, refused.machine.1, tool_node()).await.unwrap();
    assert_eq!(place.status(id).await, Status::Completed);
}

/// A permit, the future in the middle of the call, and an outcome: the execution is in doubt and
/// the worker fenced.
async fn what_was_dropped_without_an_outcome_is_in_doubt(place: Place) {
    for what in ["the permit", "the future", "the outcome"] {
        let place = place.another().await;
        let (running, permit) = place.begun(mail("bob")).await;
        let id = running.id();
        assert_eq!(place.recovered().await.len(), 0, "{what}");
        match what {
            "the permit" => drop(permit),
            "the future" => {
                let call = in_flight(permit).await;
                assert_eq!(place.recovered().await.len(), 0, "{what}");
                assert!(call.abort().await.is_cancelled(), "{what}");
            }
            _ => {
                let outcome = unknown(permit, "?").await;
                assert_eq!(place.recovered().await.len(), 0, "{what}");
                drop(outcome);
            }
        }
        let doubt = place.doubt().await;
        assert_eq!(doubt.id(), id, "{what}");
        assert_eq!(doubt.journal().epoch(), 1, "{what}");
        assert_eq!(place.status(id).await, Status::Waiting, "{what}");
        assert_eq!(place.parked(id).await, Liveness::Ended, "{what}");
        let evidence = |fact: &CallFact| matches!(fact, CallFact::Evidence { late: true, .. });
        assert!(what == "the outcome" || !place.facts(id).await.iter().any(evidence), "{what}");
        let _ = place.deny(doubt).await;
    }
    // A receipt is not lost with its outcome.
    let (running, permit) = place.begun(mail("bob")).await;
    drop(applied(permit, "250 queued").await);
    place.is_completed_late(running.id(), "250 queued").await;
}

/// So is the execution of a real process that is killed between `begin` and its answer, or ends
/// normally without one: WAITING, fenced, its key held. A second recover returns it again.
#[tokio::test]
async fn a_process_that_ends_without_an_answer_leaves_doubt() {
    for is_killed in [true, false] {
        let place = Place::new().await;
        let id = place.stored(mail("bob")).await.id();
        if is_killed {
            child::begin_and_be_killed(&place.file(), id);
        } else {
            let mut other = child::begins_elsewhere(&place.file(), id);
            other.go();
            other.join();
        }
        assert_eq!(place.status(id).await, Status::Running);
        for _ in 0..2 {
            let doubt = place.doubt().await;
            assert_eq!(doubt.id(), id);
            assert_eq!(doubt.journal().epoch(), 1);
            assert!(doubt.question().contains("email.send → bob"), "{}", doubt.question());
            assert_eq!(place.status(id).await, Status::Waiting);
            place.is_held(mail("bob"), id).await;
        }
    }
}

/// Executions that are not in doubt are left alone: questions to people, idempotent calls.
async fn the_rest_is_left_alone(place: Place) {
    let mut question = asked("Deploy?");
    place.store.create(&mut question).await.unwrap();
    let mut running = place.stored(read("a.txt")).await.start(tool_node());
    place.store.commit(&mut running).await.unwrap();
    let _ = place.done(mail("ann")).await;
    let before = place.dump();
    assert_eq!(place.recovered().await.len(), 0);
    assert_eq!(place.dump(), before);
    let refused = place.store.in_doubt(question.id()).await;
    assert_err!(refused, StateError::NotInDoubt { id } if *id == question.id());
}

/// As applied, which keeps the key, or as not applied, which releases it.
async fn a_person_settles_a_doubt(place: Place) {
    let doubt = place.doubtful(mail("bob")).await;
    let id = doubt.id();
    let failed = place.deny(doubt).await;
    assert_eq!(failed.state().error, "not there");
    assert_eq!(place.status(id).await, Status::Failed);
    let entries = place.entries(id).await;
    let confirmed = entries.iter().find_map(|entry| match CallFact::of(entry)? {
        CallFact::Confirmed { applied, reason, overridden, .. } => {
            Some((applied, reason, overridden, entry.by.as_deref()))
        }
        _ => None,
    });
    assert_eq!(confirmed, Some((false, "not there".to_owned(), false, Some("ann"))));

    let doubt = place.doubtful(mail("bob")).await;
    let id = doubt.id();
    place.confirm(doubt).await;
    assert_eq!(place.status(id).await, Status::Completed);
    place.is_done(mail("bob"), id).await;
    assert_eq!(place.recovered().await.len(), 0);
}

/// If two people answer, the second gets a conflict.
async fn two_answers_and_one_counts(place: Place) {
    let yes = place.doubtful(mail("bob")).await;
    let id = yes.id();
    let no = place.store.in_doubt(id).await.unwrap();
    place.confirm(yes).await;
    let (stale, refused) = place.refuses_denial(no).await;
    assert_is!(refused, EffectError::Commit(CommitError::Conflict { id: of }) if *of == id);
    assert_eq!(stale.id(), id);
    assert_eq!(place.status(id).await, Status::Completed);
}
