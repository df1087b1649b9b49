//! What runs behind a gate, and what does not (EX-9).

use std::time::Duration;

use machine::{
    Id,
    contract::{
        AnyExecution, CallFact, Contract, Execution, Gate, Planned,
        execution::{Event, Status},
    },
    store::{CommitError, LoadError},
    stored::VerifyError,
};
use machine_tests::{
    actors::{ann, ecs_node, graph_runner, tool_node},
    assert_err, forge,
    samples::{mail, read},
};

use crate::store::support::{Place, applied, begin, gated, not_applied, on_both};

on_both! {
    behind_an_open_question_it_waits,
    behind_a_yes_it_runs,
    behind_a_no_it_never_runs,
    only_an_answer_completes_a_gate,
    a_gate_that_never_waited_is_not_completed,
    a_gate_approves_one_execution,
    a_gate_approves_one_action,
    an_approval_is_used_once,
    an_approval_that_expired_is_not_used,
    a_missing_gate_is_not_open,
    an_idempotent_action_does_not_start_without_its_gate,
    an_action_is_not_created_past_its_gate,
}

async fn approved(place: &Place, gate: Gate) -> Id {
    let id = gate.id();
    let _ = machine_tests::approve(&place.store, gate, ann()).await.unwrap();
    id
}

/// Nothing runs while the gate waits for its answer.
async fn behind_an_open_question_it_waits(place: Place) {
    let (gate, mail) = place.asked(mail("bob")).await;
    let id = mail.id();
    let before = place.dump().await;
    let refused = begin(&place.store, mail).await;
    assert_err!(refused, CommitError::Deferred { id: of, gate: by, status: Status::Waiting }
        if *of == id && *by == gate.id());
    assert_eq!(place.dump().await, before);
    assert_eq!(place.status(id).await, Status::Pending);
}

/// After the approval, `begin` issues a permit, and the journal says who approved.
async fn behind_a_yes_it_runs(place: Place) {
    let (gate, mail) = place.asked(mail("bob")).await;
    let _ = machine_tests::approve(&place.store, gate, ann()).await.unwrap();
    let (running, permit) = begin(&place.store, mail).await.unwrap();
    assert_eq!(permit.execution_id(), running.id());
    let facts = place.facts(running.id()).await;
    let [CallFact::Held { .. }, CallFact::Permitted { approved_by, action, .. }] = &facts[..]
    else {
        panic!("{facts:?}");
    };
    assert_eq!(approved_by.as_deref(), Some("ann"));
    assert_eq!(*action, running.context().action().digest());
    assert!(place.view(running.id()).await.human_confirmed);
}

/// After a no, a withdrawal or its expiry, the action never runs.
async fn behind_a_no_it_never_runs(place: Place) {
    for end in [Status::Rejected, Status::Cancelled] {
        let (gate, mail) = place.asked(mail("bob")).await;
        let (id, gate_id) = (mail.id(), gate.id());
        if end == Status::Rejected {
            let _ = place.store.decline(gate, "no", ann()).await.unwrap();
        } else {
            let _ = place.store.withdraw(gate, "no longer needed", graph_runner()).await.unwrap();
        }
        assert_eq!(place.status(gate_id).await, end);
        let refused = begin(&place.store, mail).await;
        assert_err!(refused, CommitError::NeverRuns { id: of, gate: by, status }
            if *of == id && *by == gate_id && *status == end);
        assert_eq!(place.status(id).await, Status::Cancelled);
        assert!(!place.view(id).await.human_confirmed);
    }
}

/// Moving a gate by its transitions answers nothing, for any actor.
async fn only_an_answer_completes_a_gate(place: Place) {
    let no = || "no".to_owned();
    let (gate, mail) = place.asked(mail("bob")).await;
    let id = gate.id();
    let before = place.dump().await;
    for events in [
        vec![Event::Resume],
        vec![Event::Resume, Event::Succeed { result: "approved".to_owned() }],
        vec![Event::Resume, Event::Reject { reason: no() }],
        vec![Event::Resume, Event::Fail { error: no() }],
        vec![Event::Resume, Event::Suspend { prompt: "Send something else?".to_owned() }],
    ] {
        let mut moved: AnyExecution = place.store.load(id).await.unwrap();
        for event in events {
            moved.apply_mut(event, graph_runner()).unwrap();
        }
        assert_err!(place.store.commit(&mut moved).await, CommitError::Refused { id: of, .. }
            if *of == id);
        assert_eq!(place.dump().await, before);
    }
    assert_err!(begin(&place.store, mail).await, CommitError::Deferred { .. });
}

/// The asker makes the same gate once more, and completes it without asking.
async fn a_gate_that_never_waited_is_not_completed(place: Place) {
    let (gate, mut mail) = gated(mail("bob"));
    place.store.batch().create(mail.machine()).write().await.unwrap();
    let twin = Execution::new(gate.execution().context().clone());
    assert_eq!(twin.id(), gate.id());
    let mut answered = twin.start(ecs_node()).succeed("approved".to_owned(), ecs_node());
    assert_err!(place.store.create(&mut answered).await, CommitError::Refused { .. });
    assert_err!(begin(&place.store, mail).await, CommitError::Gate { .. });
}

/// A copy of an approved action is another execution, and was not approved.
async fn a_gate_approves_one_execution(place: Place) {
    let (gate, mail) = place.asked(mail("bob")).await;
    let gate = approved(&place, gate).await;
    let copy = place.stored(mail.execution().context().clone()).await;
    let id = copy.id();
    assert_err!(begin(&place.store, copy).await, CommitError::OtherAction { id: of, gate: by }
        if *of == id && *by == gate);
    let _ = begin(&place.store, mail).await.unwrap();
}

/// The library never mixes up two gates; a forger does. (An irreversible action that was read from
/// data is not stored at all.)
async fn a_gate_approves_one_action(place: Place) {
    let (to_ann, _a) = place.asked(read("ann.txt")).await;
    let (to_bob, action) = gated(read("bob.txt"));
    let mut claim = forge::claim(action.execution());
    let (theirs, mine) = (to_bob.id().to_string(), to_ann.id().to_string());
    claim.record.context = claim.record.context.replace(&theirs, &mine);
    let AnyExecution::Pending(mut action) = forge::cross_execution(claim).unwrap() else {
        panic!("it was pending")
    };
    place.store.create(&mut action).await.unwrap();
    let gate = approved(&place, to_ann).await;
    assert_err!(begin(&place.store, action).await, CommitError::OtherAction { gate: by, .. }
        if *by == gate);
}

/// An approval is for one run. After that failed, a person decides about the next one.
async fn an_approval_is_used_once(place: Place) {
    let (gate, planned) = place.asked(mail("bob")).await;
    let _ = machine_tests::approve(&place.store, gate, ann()).await.unwrap();
    let stale = place.pending(planned.id()).await;
    let (running, permit) = begin(&place.store, planned).await.unwrap();
    let outcome = not_applied(permit, "connection refused").await;
    let machine::contract::Settled::Failed(failed) =
        place.store.settle(running, outcome, tool_node()).await.unwrap()
    else {
        panic!("nothing took place")
    };
    assert_err!(begin(&place.store, stale).await, CommitError::Conflict { .. });
    let copy = place.stored(failed.context().clone()).await;
    assert_err!(begin(&place.store, copy).await, CommitError::OtherAction { .. });

    let retry = place.stored(Contract::retry(&failed, ann())).await;
    assert_eq!(retry.context().behind(), None);
    let (running, permit) = begin(&place.store, retry).await.unwrap();
    assert!(place.view(running.id()).await.human_confirmed);
    let outcome = applied(permit, "sent").await;
    let _ = place.store.settle(running, outcome, tool_node()).await.unwrap();
}

/// The time limit of a question is that of its approval too.
async fn an_approval_that_expired_is_not_used(place: Place) {
    let (place, clock) = place.clocked().await;
    let limit = Some(Duration::from_secs(10));
    let (mut gate, mut planned) = mail("bob").ask(limit, ecs_node()).unwrap();
    assert_eq!(gate.expires_at(), None, "it counts from when it was stored");
    place.store.ask(&mut gate, &mut planned).await.unwrap();
    let expires_at = gate.expires_at().unwrap();
    assert_eq!(expires_at, place.store.now() + 10_000);
    clock.advance(9_999);
    let approved = approved(&place, gate).await;
    clock.advance(1);
    let planned: Planned<machine::contract::Action> = planned;
    let id = planned.id();
    let before = place.dump().await;
    let refused = place.store.begin(planned, tool_node()).await.unwrap_err();
    assert_err!(Err::<(), _>(refused.reason), CommitError::ApprovalExpired { id: of, gate, at }
        if *of == id && *gate == approved && *at == expires_at);
    assert_eq!(place.dump().await, before);
    // In time it would have run.
    clock.advance(-1);
    let _ = begin(&place.store, refused.machine).await.unwrap();
}

/// A gate that is not in the store counts as missing, not as open.
async fn a_missing_gate_is_not_open(place: Place) {
    let (gate, mut mail) = gated(mail("bob"));
    place.store.batch().create(mail.machine()).write().await.unwrap();
    let id = mail.id();
    let refused = begin(&place.store, mail).await;
    assert_err!(refused, CommitError::Gate { id: of, source } if *of == id
        && matches!(**source, LoadError::NotFound { id: missing } if missing == gate.id()));
}

/// An idempotent action needs no permit, and its gate all the same.
async fn an_idempotent_action_does_not_start_without_its_gate(place: Place) {
    let (gate, action) = place.asked(read("secret.txt")).await;
    let id = action.id();
    let mut running = action.into_execution().start(tool_node());
    assert_err!(place.store.commit(&mut running).await, CommitError::Deferred { .. });
    assert_err!(begin(&place.store, place.pending(id).await).await, CommitError::Deferred { .. });
    assert_eq!(place.status(id).await, Status::Pending);
    let _ = machine_tests::approve(&place.store, gate, ann()).await.unwrap();
    place.store.commit(&mut running).await.unwrap();
}

/// It cannot be created as already started either.
async fn an_action_is_not_created_past_its_gate(place: Place) {
    let (mut gate, action) = gated(read("secret.txt"));
    place.store.batch().create(gate.machine()).write().await.unwrap();
    let action = action.into_execution();
    let mut done = action.start(tool_node()).succeed("the secret".to_owned(), tool_node());
    assert_err!(place.store.create(&mut done).await, CommitError::Deferred { .. });
}

/// A gate whose row was edited to COMPLETED does not open: its seal differs.
#[tokio::test]
async fn a_gate_that_was_edited_by_hand_opens_nothing() {
    let place = Place::new().await;
    let (gate, mail) = place.asked(mail("bob")).await;
    place.edit("UPDATE instance SET status = 'completed' WHERE id = ?1", gate.id());
    let id = mail.id();
    let refused = begin(&place.store, mail).await;
    assert_err!(refused, CommitError::Gate { id: of, source }
        if *of == id && matches!(**source, LoadError::Unreadable(VerifyError::History { .. })));
    assert_eq!(place.status(id).await, Status::Pending);
}
