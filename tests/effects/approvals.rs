//! Answers to gates: the person, the time, and the record.

use std::time::Duration;

use machine::{
    Id,
    actor::Human,
    contract::{AnyExecution, CallFact, Gate, decision, execution::Status},
    effects::{Batch, Decide},
    store::{CommitError, LoadError, Query, Store},
    typed::Refused,
};
use machine_tests::{
    actors::{ann, ecs_node, graph_runner, tool_node},
    assert_err,
    samples::{Ticket, asked, mail, read},
};

use crate::store::support::{Place, begin, gated, on_both};

on_both! {
    an_answer_is_on_record,
    the_second_answer_is_told_about_the_first,
    the_second_answer_is_told_even_after_the_action_ran,
    an_expired_gate_is_not_answered,
    only_an_expired_gate_expires,
    a_withdrawn_gate_is_not_answered,
    what_is_not_there_is_not_answered,
    a_gate_whose_action_has_ended_is_not_answered,
    several_gates_are_answered_together,
    several_answers_are_all_or_nothing,
    a_question_and_its_action_are_stored_together,
}

fn bea() -> Human {
    Human::new("bea").unwrap()
}

fn refusal<T: std::fmt::Debug>(result: Result<T, Refused<Gate, CommitError>>) -> CommitError {
    result.unwrap_err().reason
}

/// The person, the execution, the exact action, and the time.
async fn an_answer_is_on_record(place: Place) {
    let (place, clock) = place.clocked().await;
    for is_yes in [true, false] {
        let (gate, planned) = place.asked(mail("bob")).await;
        clock.advance(5);
        let id = gate.id();
        let given = if is_yes {
            machine_tests::approve(&place.store, gate, ann()).await.unwrap()
        } else {
            place.store.decline(gate, "wrong address", ann()).await.unwrap()
        };
        assert_eq!(
            (given.approved, given.by.as_str(), given.at),
            (is_yes, "ann", place.store.now())
        );
        let facts = place.facts(id).await;
        let [CallFact::Decided { approved, execution, action, reason, at, expires_at }] =
            &facts[..]
        else {
            panic!("{facts:?}");
        };
        assert_eq!((*approved, *execution), (is_yes, planned.id()));
        assert_eq!(*action, planned.execution().context().action().digest());
        assert_eq!(reason.as_deref(), (!is_yes).then_some("wrong address"));
        assert_eq!((*at, *expires_at), (place.store.now(), None));
        let entries = place.entries(id).await;
        let decided = entries.iter().find(|entry| CallFact::of(entry).is_some()).unwrap();
        assert_eq!((decided.actor.as_deref(), decided.by.as_deref()), (Some("human"), Some("ann")));

        let gate: AnyExecution = place.store.load(id).await.unwrap();
        assert_eq!(decision(&gate), Some(given));
        assert_eq!(gate.status(), if is_yes { Status::Completed } else { Status::Rejected });
    }
    assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
}

/// One of two answers counts, and the other learns which, whether it was loaded before or not.
async fn the_second_answer_is_told_about_the_first(place: Place) {
    let (gate, mail) = place.asked(mail("bob")).await;
    let id = gate.id();
    let theirs = place.store.gate(id).await.unwrap();
    let stale = place.store.gate(id).await.unwrap();
    let withdrawn = place.store.gate(id).await.unwrap();
    let _ = place.store.decline(theirs, "no", &bea()).await.unwrap();
    let before = place.dump().await;
    let Err(Refused { machine: gate, reason }) =
        machine_tests::approve(&place.store, gate, ann()).await
    else {
        panic!("it was declined");
    };
    assert!(gate.execution().journal().uncommitted().is_empty());
    let text = reason.to_string();
    assert_err!(Err::<(), _>(reason), CommitError::AlreadyDecided { id: of, approved: false, by, .. }
        if *of == id && by == "bea");
    assert!(text.contains("declined by bea"), "{text}");
    let refused = refusal(place.store.decline(stale, "no", ann()).await);
    assert_err!(Err::<(), _>(refused), CommitError::AlreadyDecided { .. });
    let refused = refusal(place.store.withdraw(withdrawn, "late", graph_runner()).await);
    assert_err!(Err::<(), _>(refused), CommitError::AlreadyDecided { .. });
    assert_err!(place.store.gate(id).await,
        LoadError::AlreadyDecided { id: of, approved: false, by, .. }
        if *of == id && by == "bea");
    assert_eq!(place.dump().await, before);
    assert_err!(begin(&place.store, mail).await, CommitError::NeverRuns { .. });
}

/// The first answer was used before the second one came.
async fn the_second_answer_is_told_even_after_the_action_ran(place: Place) {
    let (gate, mail) = place.asked(mail("bob")).await;
    let id = gate.id();
    let theirs = place.store.gate(id).await.unwrap();
    let _ = machine_tests::approve(&place.store, theirs, &bea()).await.unwrap();
    let _ = begin(&place.store, mail).await.unwrap();
    let refused = refusal(place.store.decline(gate, "no", ann()).await);
    assert_err!(Err::<(), _>(refused), CommitError::AlreadyDecided { id: of, approved: true, by, .. }
        if *of == id && by == "bea");
}

async fn asked_for(place: &Place, seconds: u64) -> (Gate, Id) {
    let limit = Some(Duration::from_secs(seconds));
    let (mut gate, mut planned) =
        mail("bob").ask::<machine::contract::Action>(limit, ecs_node()).unwrap();
    place.store.ask(&mut gate, &mut planned).await.unwrap();
    (gate, planned.id())
}

/// At its limit it is over, also for a gate that was loaded before.
async fn an_expired_gate_is_not_answered(place: Place) {
    let (place, clock) = place.clocked().await;
    let (gate, _) = asked_for(&place, 10).await;
    let (id, expires_at) = (gate.id(), gate.expires_at().unwrap());
    clock.advance(10_000);
    let before = place.dump().await;
    let reloaded = place.store.gate(id).await.unwrap();
    assert_eq!(reloaded.expires_at(), Some(expires_at));
    for refused in [
        refusal(machine_tests::approve(&place.store, gate, ann()).await),
        refusal(place.store.decline(reloaded, "no", ann()).await),
    ] {
        assert_err!(Err::<(), _>(refused), CommitError::GateExpired { id: of, at }
            if *of == id && *at == expires_at);
    }
    assert_eq!(place.dump().await, before);
}

/// It is listed as due, and ends as CANCELLED; before that, it is not.
async fn only_an_expired_gate_expires(place: Place) {
    let (place, clock) = place.clocked().await;
    let (gate, behind) = asked_for(&place, 10).await;
    let id = gate.id();
    clock.advance(9_999);
    let Err(Refused { machine: gate, reason }) = place.store.expire(gate, graph_runner()).await
    else {
        panic!("it can still be answered");
    };
    assert_err!(Err::<(), _>(reason), CommitError::NotDue { id: of } if *of == id);
    assert_eq!(place.lines(&Query::new().due()).await.len(), 0);
    clock.advance(1);
    assert_eq!(place.lines(&Query::new().due()).await[0].id, id);
    let _ = place.store.expire(gate, graph_runner()).await.unwrap();
    assert_err!(place.store.gate(id).await, LoadError::NotAGate { id: of, .. } if *of == id);
    // The action behind it ended with it.
    assert_eq!(place.status(behind).await, Status::Cancelled);

    // One without a limit never does.
    let (gate, _) = place.asked(mail("ann")).await;
    clock.advance(i64::MAX / 2);
    let refused = refusal(place.store.expire(gate, graph_runner()).await);
    assert_err!(Err::<(), _>(refused), CommitError::NotDue { .. });
}

async fn a_withdrawn_gate_is_not_answered(place: Place) {
    let (gate, _) = place.asked(mail("bob")).await;
    let stale = place.store.gate(gate.id()).await.unwrap();
    let withdrawn = place.store.withdraw(gate, "not needed", graph_runner()).await.unwrap();
    assert_eq!(withdrawn.state().reason, "not needed");
    let refused = refusal(machine_tests::approve(&place.store, stale, ann()).await);
    assert_err!(Err::<(), _>(refused), CommitError::GateEnded { id, .. } if *id == withdrawn.id());
    let found = place.store.gate(withdrawn.id()).await;
    assert_err!(found, LoadError::NotAGate { found, .. } if found == "CANCELLED (not needed)");
}

/// A gate that was never stored, an unknown id, a question that is not a gate, another machine.
async fn what_is_not_there_is_not_answered(place: Place) {
    let (gate, _) = gated(mail("bob"));
    let id = gate.id();
    let before = place.dump().await;
    let refused = refusal(machine_tests::approve(&place.store, gate, ann()).await);
    assert_err!(Err::<(), _>(refused), CommitError::NeverStored { id: of } if *of == id);
    assert_eq!(place.dump().await, before);
    assert_err!(place.store.gate(id).await, LoadError::NotFound { id: of } if *of == id);

    let mut question = asked("Deploy?");
    place.store.create(&mut question).await.unwrap();
    assert_err!(place.store.gate(question.id()).await,
        LoadError::NotAGate { id, found } if *id == question.id() && found == "WAITING");
    let planned = place.stored(mail("eve")).await.id();
    assert_err!(place.store.gate(planned).await, LoadError::NotAGate { id, .. } if *id == planned);
    let mut ticket = Ticket::new();
    place.store.create(&mut ticket).await.unwrap();
    assert_err!(place.store.gate(ticket.id()).await, LoadError::Unreadable(_));

    // Nor in another store.
    let (gate, _) = place.asked(mail("ann")).await;
    let refused = machine_tests::approve(&Store::memory(), gate, ann()).await.unwrap_err();
    assert_err!(Err::<(), _>(refused.reason), CommitError::GateChanged { .. });
    let _ = machine_tests::approve(&place.store, refused.machine, ann()).await.unwrap();
}

/// The action was abandoned, or never stored: an approval would mean nothing.
async fn a_gate_whose_action_has_ended_is_not_answered(place: Place) {
    let (gate, planned) = place.asked(mail("bob")).await;
    let (id, execution) = (gate.id(), planned.into_execution());
    let _ = place.store.cancel(execution, "not needed", tool_node()).await.unwrap();
    let refused = refusal(machine_tests::approve(&place.store, gate, ann()).await);
    assert_err!(Err::<(), _>(refused), CommitError::GateEnded { id: of, found }
        if *of == id && found == "CANCELLED (not needed)");

    let (mut gate, _) = gated(mail("ann"));
    place.store.batch().create(gate.machine()).write().await.unwrap();
    let refused = refusal(machine_tests::approve(&place.store, gate, ann()).await);
    assert_err!(Err::<(), _>(refused), CommitError::GateChanged { .. });
}

/// Each gets its own record.
async fn several_gates_are_answered_together(place: Place) {
    let mut gates = Vec::new();
    let mut planned = Vec::new();
    for to in ["ann", "bob", "carl"] {
        let (gate, mail) = place.asked(mail(to)).await;
        gates.push(gate);
        planned.push(mail);
    }
    let ids: Vec<Id> = gates.iter().map(Gate::id).collect();
    let mut answers: Vec<Decide> = gates
        .into_iter()
        .enumerate()
        .map(|(number, gate)| match number {
            1 => Decide::decline(gate, "not to bob", ann()),
            _ => machine_tests::approval(gate, ann()),
        })
        .collect();
    let batch = answers.iter_mut().fold(place.store.batch(), Batch::decide);
    batch.write().await.unwrap();
    for (number, (id, mail)) in ids.into_iter().zip(planned).enumerate() {
        let gate: AnyExecution = place.store.load(id).await.unwrap();
        let decision = decision(&gate).unwrap();
        assert_eq!((decision.approved, decision.by.as_str()), (number != 1, "ann"));
        let begun = begin(&place.store, mail).await;
        match number {
            1 => assert_err!(begun, CommitError::NeverRuns { .. }),
            _ => drop(begun.unwrap()),
        }
    }
    let decided = answers.into_iter().filter_map(|answer| answer.finish().ok());
    let kinds: Vec<bool> = decided.map(|decision| decision.approved).collect();
    assert_eq!(kinds, [true, false, true]);
}

/// One of them was answered by another person: none is written, and the others can be.
async fn several_answers_are_all_or_nothing(place: Place) {
    let (first, _) = place.asked(mail("ann")).await;
    let (second, _) = place.asked(mail("bob")).await;
    let (one, other) = (first.id(), second.id());
    let theirs = place.store.gate(other).await.unwrap();
    let _ = place.store.decline(theirs, "no", &bea()).await.unwrap();
    let (mut first, mut second) =
        (machine_tests::approval(first, ann()), machine_tests::approval(second, ann()));
    let before = place.dump().await;
    for _ in 0..2 {
        let refused = place.store.batch().decide(&mut first).decide(&mut second).write().await;
        assert_err!(refused, CommitError::AlreadyDecided { id, by, .. } if *id == other && by == "bea");
        assert_eq!(place.dump().await, before);
    }
    assert!(second.finish().is_err());
    let gate = first.finish().unwrap_err();
    assert_eq!(gate.id(), one);
    let _ = machine_tests::approve(&place.store, gate, ann()).await.unwrap();
}

/// `ask` writes both or none.
async fn a_question_and_its_action_are_stored_together(place: Place) {
    let (mut gate, mut planned) = gated(read("secret.txt"));
    place.store.batch().create(planned.machine()).write().await.unwrap();
    let refused = place.store.ask(&mut gate, &mut planned).await;
    assert_err!(refused, CommitError::AlreadyStored { id } if *id == planned.id());
    assert_err!(place.store.gate(gate.id()).await, LoadError::NotFound { .. });
    place.store.batch().create(gate.machine()).write().await.unwrap();
    let gate = place.store.gate(gate.id()).await.unwrap();
    assert_eq!(gate.approval().execution(), planned.id());
    assert!(gate.question().starts_with("Allow files.read?\n"), "{}", gate.question());
}
