//! Actions behind a gate: which run, and which do not.

use std::time::Duration;

use machine::{
    Id,
    contract::{
        Action, AnyExecution, CallFact, Contract, Execution, Gate, Planned,
        execution::{Event, Status},
    },
    effects::Begin,
    store::{CommitError, LoadError},
    stored::VerifyError,
    view::Label,
};
use machine_tests::{
    actors::{ann, ecs_node, graph_runner, reasoning_node, tool_node},
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
    let (place, clock) = place.clocked().await;
    for (end, expires) in
        [(Status::Rejected, false), (Status::Cancelled, false), (Status::Cancelled, true)]
    {
        let limit = expires.then_some(Duration::from_secs(1));
        let (mut gate, mut mail) = mail("bob").ask::<Action>(limit, ecs_node()).unwrap();
        place.store.ask(&mut gate, &mut mail).await.unwrap();
        let (id, gate_id) = (mail.id(), gate.id());
        if end == Status::Rejected {
            let _ = place.store.decline(gate, "no", ann()).await.unwrap();
        } else if expires {
            clock.advance(1_000);
            let _ = place.store.expire(gate, graph_runner()).await.unwrap();
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

/// Moving a gate by its transitions answers nothing, for any actor, alone and in the batch of what waits
/// behind it.
async fn only_an_answer_completes_a_gate(place: Place) {
    let no = || "no".to_owned();
    let (gate, mail) = place.asked(mail("bob")).await;
    let id = gate.id();
    let mut begins = Begin::new(mail, tool_node());
    let before = place.dump().await;
    for events in [
        vec![Event::Resume],
        vec![Event::Resume, Event::Succeed { result: "approved".to_owned() }],
        vec![Event::Resume, Event::Reject { reason: no() }],
        vec![Event::Resume, Event::Fail { error: no() }],
        vec![Event::Resume, Event::Suspend { prompt: "Send something else?".to_owned() }],
    ] {
        for ends_it in [Ends::Runner, Ends::Asker, Ends::Tool] {
            let mut moved: AnyExecution = place.store.load(id).await.unwrap();
            for event in events.clone() {
                let moved_on = match (&event, ends_it) {
                    (Event::Resume, _) | (_, Ends::Runner) => {
                        moved.apply_mut(event, graph_runner())
                    }
                    (_, Ends::Asker) => moved.apply_mut(event, ecs_node()),
                    (_, Ends::Tool) => moved.apply_mut(event, tool_node()),
                };
                moved_on.unwrap();
            }
            assert_err!(place.store.commit(&mut moved).await, CommitError::Refused { id: of, .. }
                if *of == id);
            let both = place.store.batch().commit(&mut moved).begin(&mut begins).write().await;
            assert_err!(both, CommitError::Refused { id: of, .. } if *of == id);
            assert_eq!(place.dump().await, before);
        }
    }
    let mail = begins.finish().unwrap_err();
    assert!(!place.view(id).await.human_confirmed);
    assert_eq!(place.view(id).await.consequence_label, Label::Waiting);
    assert_eq!(place.view(mail.id()).await.consequence_label, Label::Deferred);
    assert_err!(begin(&place.store, mail).await, CommitError::Deferred { .. });
    let _ = machine_tests::approve(&place.store, gate, ann()).await.unwrap();
}

/// The actor of the last move of a gate.
#[derive(Clone, Copy)]
enum Ends {
    Runner,
    Asker,
    Tool,
}

/// The asker makes the same gate once more, and completes it without asking: before anything is stored,
/// together with the action, and when the gate itself waits.
async fn a_gate_that_never_waited_is_not_completed(place: Place) {
    let (mut gate, mut mail) = gated(mail("bob"));
    let twin = || {
        let twin = Execution::new(gate.execution().context().clone());
        assert_eq!(twin.id(), gate.id());
        twin.start(ecs_node())
    };
    let yes = || "approved".to_owned();
    let mut by_runner = twin().succeed(yes(), graph_runner());
    let mut answered = twin().succeed(yes(), ecs_node());
    assert_err!(place.store.create(&mut answered).await, CommitError::Refused { .. });
    let both = place.store.batch().create(&mut answered).create(mail.machine()).write().await;
    assert_err!(both, CommitError::Refused { .. });
    place.store.ask(&mut gate, &mut mail).await.unwrap();
    for twin in [&mut answered, &mut by_runner] {
        assert_err!(place.store.create(twin).await, CommitError::Refused { .. });
    }
    assert_err!(begin(&place.store, mail).await, CommitError::Deferred { .. });
}

/// A copy of an approved action is another execution, and was not approved, before the approved one runs and
/// after. Another occurrence is another action.
async fn a_gate_approves_one_execution(place: Place) {
    for contract in [mail("bob"), read("secret.txt")] {
        let (gate, planned) = place.asked(contract).await;
        let gate = approved(&place, gate).await;
        let contract = planned.execution().context().clone();
        let weekly = contract.clone().occurrence("2026-W47", graph_runner()).unwrap();
        let copies = [place.stored(contract).await.id(), place.stored(weekly).await.id()];
        let are_refused = async || {
            for id in copies {
                let copy = place.pending(id).await;
                assert_eq!(copy.context().behind(), Some(gate));
                assert_err!(begin(&place.store, copy).await,
                    CommitError::OtherAction { id: of, gate: by } if *of == id && *by == gate);
                assert!(!place.view(id).await.human_confirmed);
            }
        };
        are_refused().await;
        let (running, permit) = begin(&place.store, planned).await.unwrap();
        are_refused().await;
        let outcome = not_applied(permit, "connection refused").await;
        let _ = place.store.settle(running, outcome, tool_node()).await.unwrap();
        are_refused().await;
    }
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

/// An approval is for one run. After that failed, a person decides about the next one. An idempotent action is
/// asked for again.
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

    for _ in 0..2 {
        let (gate, planned) = place.asked(read("secret.txt")).await;
        let _ = approved(&place, gate).await;
        let (running, permit) = begin(&place.store, planned).await.unwrap();
        let outcome = applied(permit, "the secret").await;
        let _ = place.store.settle(running, outcome, tool_node()).await.unwrap();
    }
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
    let planned: Planned<Action> = planned;
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

/// A gate that is not in the store counts as missing, not as open. A plain question that the asker completes
/// has another id.
async fn a_missing_gate_is_not_open(place: Place) {
    let (gate, mut mail) = gated(mail("bob"));
    place.store.batch().create(mail.machine()).write().await.unwrap();
    let question = Contract::ecs_request(gate.question(), reasoning_node()).unwrap();
    let question = Execution::new(question).start(ecs_node());
    let mut answered = question.succeed("yes".to_owned(), ecs_node());
    place.store.create(&mut answered).await.unwrap();
    assert_ne!(answered.id(), gate.id());
    assert_err!(place.store.gate(answered.id()).await, LoadError::NotAGate { .. });
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
    let mut done =
        place.pending(id).await.start(tool_node()).succeed("the secret".to_owned(), tool_node());
    assert_err!(place.store.commit(&mut done).await, CommitError::Deferred { .. });
    assert_err!(begin(&place.store, place.pending(id).await).await, CommitError::Deferred { .. });
    assert_eq!(place.status(id).await, Status::Pending);
    let _ = machine_tests::approve(&place.store, gate, ann()).await.unwrap();
    place.store.commit(&mut running).await.unwrap();
}

/// It cannot be created as already started either.
async fn an_action_is_not_created_past_its_gate(place: Place) {
    let (mut gate, action) = gated(read("secret.txt"));
    let mut running = action.into_execution().start(tool_node());
    let both = place.store.batch().create(gate.machine()).create(&mut running).write().await;
    assert_err!(both, CommitError::Deferred { .. });
    place.store.batch().create(gate.machine()).write().await.unwrap();
    let mut done = running.succeed("the secret".to_owned(), tool_node());
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
