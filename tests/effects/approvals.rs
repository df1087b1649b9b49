//! Answers to gates: the person, the time, and the record.

use machine::{
    actor::Human,
    contract::decision,
    observe::{Attention, NextStep, Observer},
    view,
};

use crate::effects::prelude::*;

on_file! {
    an_answer_is_on_record,
    the_second_answer_learns_the_first,
    a_gate_is_answered_until_its_limit_and_expires_at_it,
    a_missing_gate_is_not_answered,
    several_gates_are_answered_together,
    a_question_and_its_action_are_stored_together,
    a_completed_action_is_not_approved_again,
    an_action_in_doubt_is_approved_with_a_caution,
}

fn bea() -> Human {
    Human::new("bea").unwrap()
}

/// The person, the execution, the exact action, and the time.
async fn an_answer_is_on_record(place: Place) {
    let (place, clock) = place.clocked().await;
    for is_yes in [true, false] {
        let (gate, planned) = place.asked(mail("bob")).await;
        clock.advance(5);
        let id = gate.id();
        let given = if is_yes { place.approve(gate).await } else { place.decline(gate).await };
        let now = place.store.now();
        assert_eq!((given.approved, given.by.as_str(), given.at), (is_yes, "ann", now));
        let facts = place.facts(id).await;
        let [CallFact::Decided { approved, execution, action, reason, at, expires_at }] =
            &facts[..]
        else {
            panic!("{facts:?}");
        };
        assert_eq!((*approved, *execution), (is_yes, planned.id()));
        assert_eq!(*action, planned.context().action().digest());
        assert_eq!(reason.as_deref(), (!is_yes).then_some("no"));
        assert_eq!((*at, *expires_at), (now, None));
        let entries = place.entries(id).await;
        let decided = entries.iter().find(|entry| CallFact::of(entry).is_some()).unwrap();
        assert_eq!((decided.actor.as_deref(), decided.by.as_deref()), (Some("human"), Some("ann")));

        let gate: AnyExecution = place.store.load(id).await.unwrap();
        assert_eq!(decision(&gate), Some(given));
        assert_eq!(gate.status(), if is_yes { Status::Completed } else { Status::Rejected });
    }
    place.assert_intact().await;
}

/// One of two answers counts, and the other learns which, whether it was loaded before or not, and
/// whether the action has run since.
async fn the_second_answer_learns_the_first(place: Place) {
    for is_yes in [false, true] {
        let (gate, mail) = place.asked(mail("bob")).await;
        let id = gate.id();
        let theirs = place.gate(id).await;
        let (stale, withdrawn) = (place.gate(id).await, place.gate(id).await);
        if is_yes {
            drop(machine_tests::approve(&place.store, theirs, &bea()).await.unwrap());
            let _ = begin(&place.store, mail).await.unwrap();
        } else {
            drop(place.store.decline(theirs, "no", &bea()).await.unwrap());
            assert_is!(place.refuses(mail).await, EffectError::NeverRuns { .. });
        }
        let before = place.dump();
        let declined = place.store.decline(stale, "no", ann()).await.unwrap_err();
        let withdrawn = place.store.withdraw(withdrawn, "late", graph_runner()).await.unwrap_err();
        let (_, approved) = place.refuses_approval(gate).await;
        for refused in [declined.reason, withdrawn.reason, approved] {
            let text = refused.to_string();
            assert_is!(refused, EffectError::AlreadyDecided { id: of, approved, by, .. }
                if *of == id && *approved == is_yes && by == "bea");
            assert!(is_yes || text.contains("declined by bea"), "{text}");
        }
        assert_err!(place.store.gate(id).await,
            StateError::AlreadyDecided { id: of, approved, by, .. }
            if *of == id && *approved == is_yes && by == "bea");
        assert_eq!(place.dump(), before);
    }
}

/// At its limit it is over, also for a gate that was loaded before: it is listed as due, and ends
/// as CANCELLED.
async fn a_gate_is_answered_until_its_limit_and_expires_at_it(place: Place) {
    let (place, clock) = place.clocked().await;
    let (gate, planned) = place.asked_for(mail("bob"), Duration::from_secs(10)).await;
    let (id, limit) = (gate.id(), START + 10_000);
    clock.advance(9_999);
    let early = place.store.expire(gate, graph_runner()).await.unwrap_err();
    assert_is!(early.reason, EffectError::NotDue { id: of } if *of == id);
    assert_eq!(place.lines(&Query::new().due()).await.len(), 0);

    clock.advance(1);
    let reloaded = place.gate(id).await;
    assert_eq!(reloaded.expires_at(), Some(limit));
    let (gate, refused) = place.refuses_approval(early.machine).await;
    assert_is!(refused, EffectError::GateExpired { id: of, at } if (*of, *at) == (id, limit));
    let before = place.dump();
    let refused = place.store.decline(reloaded, "no", ann()).await.unwrap_err();
    assert_is!(refused.reason, EffectError::GateExpired { .. });
    assert_eq!(place.dump(), before);
    assert_eq!(place.lines(&Query::new().due()).await[0].id, id);
    let _ = place.store.expire(gate, graph_runner()).await.unwrap();
    assert_err!(place.store.gate(id).await, StateError::NotAGate { id: of, .. } if *of == id);
    // The action behind it ended with it.
    assert_eq!(place.status(planned.id()).await, Status::Cancelled);

    // One without a limit never does.
    let (gate, _) = place.asked(mail("ann")).await;
    clock.advance(i64::MAX / 2);
    let refused = place.store.expire(gate, graph_runner()).await.unwrap_err();
    assert_is!(refused.reason, EffectError::NotDue { .. });
}

/// A gate that was never stored, an unknown id, a question that is not a gate, another machine.
async fn a_missing_gate_is_not_answered(place: Place) {
    let (gate, _) = gated(mail("bob"));
    let id = gate.id();
    let (_, refused) = place.refuses_approval(gate).await;
    assert_is!(refused, EffectError::Commit(CommitError::NeverStored { id: of }) if *of == id);
    assert_err!(place.store.gate(id).await, StateError::Load(LoadError::NotFound { id: of }) if *of == id);

    let mut question = asked("Deploy?");
    place.store.create(&mut question).await.unwrap();
    assert_err!(place.store.gate(question.id()).await,
        StateError::NotAGate { id, found } if *id == question.id() && found == "WAITING");
    let planned = place.stored(mail("eve")).await.id();
    assert_err!(place.store.gate(planned).await, StateError::NotAGate { id, .. } if *id == planned);
    let mut ticket = Ticket::new();
    place.store.create(&mut ticket).await.unwrap();
    assert_err!(place.store.gate(ticket.id()).await, StateError::Load(LoadError::Unreadable(_)));

    // Its action was never stored: an approval would mean nothing.
    let (mut gate, _) = gated(mail("ann"));
    place.store.batch().create(gate.machine()).write().await.unwrap();
    assert_is!(place.refuses_approval(gate).await.1, EffectError::GateChanged { .. });

    // Nor in another store.
    let (gate, _) = place.asked(mail("ann")).await;
    let refused = machine_tests::approve(&Store::memory(), gate, ann()).await.unwrap_err();
    assert_is!(refused.reason, EffectError::GateChanged { .. });
    place.approve(refused.machine).await;
}

/// Each gets its own record.
async fn several_gates_are_answered_together(place: Place) {
    let (mut answers, mut planned) = (Vec::new(), Vec::new());
    for (to, is_yes) in [("ann", true), ("bob", false), ("carl", true)] {
        let (gate, mail) = place.asked(mail(to)).await;
        planned.push((gate.id(), mail, is_yes));
        answers.push(if is_yes {
            machine_tests::approval(gate, ann())
        } else {
            Change::decline(gate, "not to bob", ann())
        });
    }
    let batch = answers.iter_mut().fold(place.store.batch(), Batch::change);
    batch.write().await.unwrap();
    for (id, mail, is_yes) in planned {
        let gate: AnyExecution = place.store.load(id).await.unwrap();
        let decision = decision(&gate).unwrap();
        assert_eq!((decision.approved, decision.by.as_str()), (is_yes, "ann"));
        let begun = begin(&place.store, mail).await;
        if is_yes {
            drop(begun.unwrap());
        } else {
            assert_err!(begun, EffectError::NeverRuns { .. });
        }
    }
    let decided = answers.into_iter().filter_map(|answer| answer.finish().ok());
    let kinds: Vec<bool> = decided.map(|decision| decision.approved).collect();
    assert_eq!(kinds, [true, false, true]);
}

/// `ask` writes both or none.
async fn a_question_and_its_action_are_stored_together(place: Place) {
    let (mut gate, mut planned) = gated(read("secret.txt"));
    place.store.batch().create(planned.machine()).write().await.unwrap();
    let refused = place.store.ask(&mut gate, &mut planned).await;
    assert_err!(refused, EffectError::Commit(CommitError::AlreadyStored { id }) if *id == planned.id());
    assert_err!(place.store.gate(gate.id()).await, StateError::Load(LoadError::NotFound { .. }));
    place.store.batch().create(gate.machine()).write().await.unwrap();
    let gate = place.gate(gate.id()).await;
    assert_eq!(gate.approval().execution(), planned.id());
    assert!(gate.question().starts_with("Allow files.read?\n"), "{}", gate.question());
}

/// The cause of concern about a gate that people see.
async fn concern(place: &Place, id: Id) -> String {
    let attention: view::View<Attention<view::Human>> =
        Observer::new(&place.store).attention(&Query::new()).await.unwrap();
    let concern = attention.concerns.iter().find(|it| it.id == Some(id)).unwrap();
    concern.cause.clone().unwrap()
}

/// Two questions about one action: what was done once is not approved again.
async fn a_completed_action_is_not_approved_again(place: Place) {
    let store = &place.store;
    let (first, paid) = place.asked(mail("bob")).await;
    let (second, other) = place.asked(mail("bob")).await;
    let (seen, id) = (place.gate(second.id()).await, second.id());
    place.approve(first).await;
    let by = paid.id();
    let settled = store.perform(paid, answers(receipt("250 queued")), tool_node()).await.unwrap();
    assert_is!(settled, Settled::Completed(_));

    assert_err!(store.resume::<Waiting>(id).await,
        StateError::AlreadyDone { id: of, done } if *of == id && done.by == by);
    let (_, refused) = place.refuses_approval(second).await;
    let text = refused.to_string();
    let EffectError::GateDone { done, .. } = refused else { panic!("{text}") };
    assert_eq!((done.by, done.approved_by.as_deref()), (by, Some("ann")));
    assert!(done.at.is_some_and(|at| at <= store.now()), "{done:?}");
    let said = format!(
        "{by} has already performed the same action 0 s ago (recorded by: tool; approved by ann)"
    );
    assert!(text.contains(&said), "{text}");
    for id in [id, other.id()] {
        let steps = Observer::new(store).next(id).await.unwrap();
        assert_eq!(steps, [NextStep::Cancel { id }]);
    }
    assert!(concern(&place, id).await.contains(&said));
    // A person can still say no, which ends both.
    place.decline(seen).await;
    assert!(place.status(other.id()).await.definition().terminal);
}

/// The key is held: whether the first one took effect is not known yet.
async fn an_action_in_doubt_is_approved_with_a_caution(place: Place) {
    let store = &place.store;
    let (first, paid) = place.asked(mail("bob")).await;
    let (second, other) = place.asked(mail("bob")).await;
    place.approve(first).await;
    let (by, id) = (paid.id(), second.id());
    let lost = answers(Err(NoReceipt::unknown("connection lost")));
    let settled = store.perform(paid, lost, tool_node()).await.unwrap();
    let Settled::InDoubt(doubt) = settled else { panic!("{settled:?}") };

    let steps = [NextStep::Approve { id }, NextStep::Decline { id }];
    assert_eq!(Observer::new(store).next(id).await.unwrap(), steps);
    let caution = concern(&place, id).await;
    let said = format!("{by} attempted the same action and is in doubt");
    assert!(caution.starts_with(&said), "{caution}");

    place.approve(second).await;
    assert_is!(place.refuses(other).await, EffectError::Commit(CommitError::KeyHeld { .. }));
    place.confirm(doubt).await;
}
