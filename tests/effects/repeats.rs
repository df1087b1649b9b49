//! An action is planned again after a person has decided about it, or after its approval ended.

use machine::{
    actor::Actors,
    observe::{NextStep, Observer},
    operate::Operator,
    store::Operation,
};
use machine_tests::invoked::placed;

use crate::effects::prelude::*;

on_file! {
    a_declined_action_needs_a_new_question,
    a_decline_concerns_nothing_else,
    a_retry_behind_a_parent_is_refused,
    a_program_retries_again,
}

const LIMIT_MS: i64 = 300;
const LIMIT: Duration = Duration::from_millis(300);

/// An action under an approval that ends after [`LIMIT`].
async fn approved_for_a_while(place: &Place, contract: Contract) -> Planned<Action> {
    let (gate, planned) = place.asked_for(contract, LIMIT).await;
    let gate = place.gate(gate.id()).await;
    assert_eq!(gate.expires_at(), Some(START + LIMIT_MS));
    place.approve(gate).await;
    planned
}

/// The write waits for the file, and the approval ends meanwhile.
#[tokio::test]
async fn an_approval_that_ends_before_the_write_begins_nothing() {
    let (place, clock) = Place::new().await.clocked().await;
    let planned = approved_for_a_while(&place, mail("bob")).await;
    let raw = place.raw();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    let store = place.store.clone();
    let begins = tokio::spawn(async move { begin(&store, planned).await.map(drop) });
    // If it has not come to the lock by then, it is refused before.
    tokio::time::sleep(Duration::from_millis(200)).await;
    clock.set(START + LIMIT_MS);
    raw.execute_batch("COMMIT").unwrap();
    assert_err!(begins.await.unwrap(), EffectError::ApprovalExpired { .. });
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
    let _ = if yes { place.approve(gate).await } else { place.decline(gate).await };
    planned.into_execution()
}

/// Ann has declined the action at this time, and approved it at no later one.
async fn is_declined(place: &Place, again: Execution<Pending>, since: i64) -> String {
    let id = again.id();
    let elsewhere = place.open_again().await;
    let refused = begin(&elsewhere, pending(&elsewhere, id).await).await;
    assert_err!(refused, EffectError::Declined { .. });
    let refused = place.refuses(again).await;
    let text = refused.to_string();
    assert_is!(refused, EffectError::Declined { id: of, by, at, .. }
        if (*of, by.as_str(), *at) == (id, "ann", since));
    text
}

/// A new execution of the same action: its key is free.
async fn a_declined_action_needs_a_new_question(place: Place) {
    let (place, clock) = place.clocked().await;
    let declined = answered(&place, &clock, mail("bob"), false).await;
    let gate = declined.context().behind().unwrap();
    let again = place.stored(mail("bob")).await;
    let id = again.id();
    let said = format!(
        "ann declined the action of {id} at {gate}, and no person has approved it since; ask a \
         person with `Contract::ask`, or let one retry it"
    );
    assert_eq!(is_declined(&place, again, START + 1).await, said);
    // The one that was declined has ended.
    let _ = place.cancelled(declined.id()).await;
}

/// Other actions and occurrences run, and one whose question was withdrawn or is open. Whether an
/// idempotent action runs, the program decides.
async fn a_decline_concerns_nothing_else(place: Place) {
    let (place, clock) = place.clocked().await;
    let _ = answered(&place, &clock, mail("bob"), false).await;
    let _ = answered(&place, &clock, read("secret.txt"), false).await;
    let (withdrawn, _) = place.asked(mail("dora")).await;
    let _ = place.store.withdraw(withdrawn, "no longer needed", graph_runner()).await.unwrap();
    let (_open, _) = place.asked(mail("dora")).await;
    let weekly = mail("bob").occurrence("2026-W47", graph_runner()).unwrap();
    for contract in [mail("carol"), weekly, mail("dora"), read("secret.txt")] {
        let _ = place.failed(contract).await;
    }
}

/// A parent decides what follows when a child fails, so nothing is tried again behind it.
async fn a_retry_behind_a_parent_is_refused(place: Place) {
    let store = &place.store;
    let (of, child) = placed(store, 500).await;
    assert_eq!(store.parent(child).await.unwrap(), Some(of));
    assert_eq!(store.parent(of).await.unwrap(), None);
    let failed = place.fails(place.pending(child).await).await;

    let id = failed.id();
    let steps = Observer::new(store).next(id).await.unwrap();
    assert_eq!(steps, [NextStep::Show { id: of }]);
    let mut again = Execution::new(Contract::retry(&failed, ann()));
    assert_is!(place.refuses_machine(&mut again).await,
        EffectError::OfParent { id: it, parent } if (*it, *parent) == (id, of));
}

/// A person retries once, which `store::race_processes` tests. A program that stores retries for
/// the person may have several attempts that wait: of these, the key decides which one begins.
async fn a_program_retries_again(place: Place) {
    let (store, actors) = (&place.store, Actors::issue("office").unwrap());
    for contract in [mail("bob"), read("a.txt")] {
        let failed = place.failed(contract).await;
        let id = failed.id();
        Operator::new(store, &actors, ann(), "office").retry(id).await.unwrap();
        let mut retry = Planned::<Action>::new(Contract::retry(&failed, ann())).unwrap();
        store.plan(&mut retry).await.unwrap();
        let logged = store.operations(1, None).await.unwrap().items.swap_remove(0);
        let Operation { by, via, operation, machines, outcome, .. } = logged.unwrap();
        let expected = ("ann", "program", "retry", vec![id], Some("done"));
        assert_eq!((&*by, &*via, &*operation, machines, outcome.as_deref()), expected);
    }
}
