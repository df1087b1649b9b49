//! A declined action does not run, even if it is planned again without a question.

use machine::{
    Id,
    contract::{
        Contract, Execution, Policy, Settled,
        execution::{Failed, Pending},
    },
    store::CommitError,
};
use machine_tests::{
    actors::{ann, graph_runner, tool_node},
    assert_err,
    samples::{mail, read},
};

use crate::store::support::{Hand, Place, START, begin, not_applied, on_both, pending};

on_both! {
    what_was_declined_is_not_begun_without_a_question,
    a_question_that_is_approved_lets_it_run,
    a_person_who_retries_lets_it_run,
    a_policy_repeats_nothing_that_was_declined_since,
    an_approval_after_it_counts,
    two_answers_at_one_time,
    other_actions_run,
    a_question_without_an_answer_forbids_nothing,
    an_idempotent_action_is_left_to_the_program,
}

/// Ann answers a question about the action, a moment after everything before it.
async fn answered(
    place: &Place,
    clock: &Hand,
    contract: Contract,
    yes: bool,
) -> Execution<Pending> {
    let (gate, planned) = place.asked(contract).await;
    clock.advance(1);
    if yes {
        let _ = machine_tests::approve(&place.store, gate, ann()).await.unwrap();
    } else {
        let _ = place.store.decline(gate, "never", ann()).await.unwrap();
    }
    planned.into_execution()
}

async fn fails(place: &Place, pending: Execution<Pending>) -> Execution<Failed> {
    let (running, permit) = begin(&place.store, pending).await.unwrap();
    let outcome = not_applied(permit, "connection refused").await;
    match place.store.settle(running, outcome, tool_node()).await.unwrap() {
        Settled::Failed(failed) => failed,
        other => panic!("{other:?}"),
    }
}

async fn is_declined(place: &Place, id: Id, since: i64) {
    let before = place.dump().await;
    for store in [place.store.clone(), place.open_again().await] {
        let refused = begin(&store, pending(&store, id).await).await;
        assert_err!(refused, CommitError::Declined { id: of, by, at, .. }
            if *of == id && by == "ann" && *at == since);
    }
    assert_eq!(place.dump().await, before);
}

/// A new execution of the same action: its key is free.
async fn what_was_declined_is_not_begun_without_a_question(place: Place) {
    let (place, clock) = place.clocked().await;
    let declined = answered(&place, &clock, mail("bob"), false).await;
    let gate = declined.context().behind().unwrap();
    let again = place.stored(mail("bob")).await;
    let id = again.id();
    is_declined(&place, id, START + 1).await;
    let text = begin(&place.store, again).await.unwrap_err().to_string();
    let said = format!(
        "ann declined at {gate} what {id} would do, and nobody has approved it since; ask a person with \
         `Contract::ask`, or let one retry it"
    );
    assert_eq!(text, said);
    // The one that was declined has ended.
    let _ = place.cancelled(declined.id()).await;
}

async fn a_question_that_is_approved_lets_it_run(place: Place) {
    let (place, clock) = place.clocked().await;
    let _ = answered(&place, &clock, mail("bob"), false).await;
    let approved = answered(&place, &clock, mail("bob"), true).await;
    let _ = fails(&place, approved).await;
}

async fn a_person_who_retries_lets_it_run(place: Place) {
    let (place, clock) = place.clocked().await;
    let declined = answered(&place, &clock, mail("bob"), false).await;
    let cancelled = place.cancelled(declined.id()).await;
    let retry = place.stored(Contract::retry(&cancelled, ann())).await;
    let _ = fails(&place, retry).await;
    // The decline was for this attempt.
    let again = place.stored(mail("bob")).await;
    is_declined(&place, again.id(), START + 1).await;
}

async fn a_policy_repeats_nothing_that_was_declined_since(place: Place) {
    let (place, clock) = place.clocked().await;
    let approved = answered(&place, &clock, mail("bob"), true).await;
    let failed = fails(&place, approved).await;
    let policy = Policy::new("the server refused it", graph_runner()).unwrap();
    let retry = place.stored(Contract::retry(&failed, &policy)).await;
    let failed = fails(&place, retry).await;
    let _ = answered(&place, &clock, mail("bob"), false).await;
    let retry = place.stored(Contract::retry(&failed, &policy)).await;
    is_declined(&place, retry.id(), START + 2).await;
}

async fn an_approval_after_it_counts(place: Place) {
    let (place, clock) = place.clocked().await;
    let _ = answered(&place, &clock, mail("bob"), false).await;
    let approved = answered(&place, &clock, mail("bob"), true).await;
    let _ = fails(&place, approved).await;
    let again = place.stored(mail("bob")).await;
    let _ = fails(&place, again).await;
}

/// Of two answers at the same time, the one that declines counts.
async fn two_answers_at_one_time(place: Place) {
    let (place, _clock) = place.clocked().await;
    let (first, _) = place.asked(mail("bob")).await;
    let (second, _) = place.asked(mail("bob")).await;
    let (third, _) = place.asked(mail("bob")).await;
    let _ = machine_tests::approve(&place.store, first, ann()).await.unwrap();
    let _ = place.store.decline(second, "never", ann()).await.unwrap();
    let _ = machine_tests::approve(&place.store, third, ann()).await.unwrap();
    let again = place.stored(mail("bob")).await;
    is_declined(&place, again.id(), START).await;
}

async fn other_actions_run(place: Place) {
    let (place, clock) = place.clocked().await;
    let _ = answered(&place, &clock, mail("bob"), false).await;
    let other = place.stored(mail("carol")).await;
    let _ = fails(&place, other).await;
    let repeated = mail("bob").occurrence("2026-W47", graph_runner()).unwrap();
    let repeated = place.stored(repeated).await;
    let _ = fails(&place, repeated).await;
}

async fn a_question_without_an_answer_forbids_nothing(place: Place) {
    let (withdrawn, _) = place.asked(mail("bob")).await;
    let _ = place.store.withdraw(withdrawn, "no longer needed", graph_runner()).await.unwrap();
    let (_open, _) = place.asked(mail("bob")).await;
    let plain = place.stored(mail("bob")).await;
    let _ = fails(&place, plain).await;
}

async fn an_idempotent_action_is_left_to_the_program(place: Place) {
    let (place, clock) = place.clocked().await;
    let _ = answered(&place, &clock, read("secret.txt"), false).await;
    let plain = place.stored(read("secret.txt")).await;
    let _ = fails(&place, plain).await;
}
