//! Actions behind a gate: which run, and which do not.

use crate::effects::prelude::*;

on_file! {
    behind_an_open_question_it_waits,
    behind_a_yes_it_runs,
    only_an_answer_completes_a_gate,
    a_gate_that_never_waited_is_not_completed,
    a_gate_approves_one_execution,
    a_gate_approves_one_action,
    an_approval_is_used_once,
    an_approval_that_expired_is_not_used,
    a_missing_gate_is_not_open,
    an_action_is_not_created_past_its_gate,
}

/// Nothing runs while the gate waits for its answer. An idempotent action needs no permit, and its
/// gate all the same.
async fn behind_an_open_question_it_waits(place: Place) {
    for contract in [mail("bob"), read("secret.txt")] {
        let (gate, planned) = place.asked(contract).await;
        let id = planned.id();
        assert_is!(place.refuses(planned).await,
            EffectError::Deferred { id: of, gate: by, status: Status::Waiting }
            if (*of, *by) == (id, gate.id()));
        assert_eq!(place.status(id).await, Status::Pending);
        assert_eq!(place.label(id).await, Label::Deferred);
    }
    for in_batch in [false, true] {
        let (gate, action) = place.asked(read("public.txt")).await;
        let id = action.id();
        let mut running = action.into_execution().start(tool_node());
        assert_is!(place.refuses_machine(&mut running).await, EffectError::Deferred { .. });
        let running_too = place.pending(id).await.start(tool_node());
        let mut done = running_too.succeed("the secret".to_owned(), tool_node());
        assert_is!(place.refuses_machine(&mut done).await, EffectError::Deferred { .. });
        assert_eq!(place.status(id).await, Status::Pending);
        if in_batch {
            let mut decide = machine_tests::approval(gate, ann());
            place.store.batch().commit(&mut running).change(&mut decide).write().await.unwrap();
        } else {
            place.approve(gate).await;
            place.store.commit(&mut running).await.unwrap();
        }
        assert_eq!(place.status(id).await, Status::Running);
    }
}

/// After the approval, or together with it, `begin` issues a permit, and the journal says who
/// approved.
async fn behind_a_yes_it_runs(place: Place) {
    for way in ["before", "in the batch, first", "in the batch, last"] {
        let place = place.another().await;
        let (gate, planned) = place.asked(mail("bob")).await;
        let gate_id = gate.id();
        let (running, permit) = if way == "before" {
            place.approve(gate).await;
            begin(&place.store, planned).await.unwrap()
        } else {
            let mut decide = machine_tests::approval(gate, ann());
            let mut begin = Change::begin(planned, tool_node());
            let batch = place.store.batch();
            let batch = if way == "in the batch, first" {
                batch.change(&mut decide).change(&mut begin)
            } else {
                batch.change(&mut begin).change(&mut decide)
            };
            batch.write().await.unwrap();
            assert!(decide.finish().unwrap().approved, "{way}");
            begin.finish().unwrap()
        };
        assert_eq!(permit.attempt().execution_id, running.id(), "{way}");
        let facts = place.facts(running.id()).await;
        let [CallFact::Held { .. }, CallFact::Permitted { approved_by, action, .. }] = &facts[..]
        else {
            panic!("{way}: {facts:?}");
        };
        assert_eq!(approved_by.as_deref(), Some("ann"), "{way}");
        assert_eq!(*action, running.context().action().digest(), "{way}");
        assert!(place.view(running.id()).await.human_confirmed, "{way}");
        assert_eq!(place.status(gate_id).await, Status::Completed, "{way}");
        place.assert_intact().await;
    }
}

/// Moving a gate by its transitions answers nothing, for any actor, alone and in the batch of what
/// waits behind it.
async fn only_an_answer_completes_a_gate(place: Place) {
    type Move = fn(&mut AnyExecution, Event) -> bool;
    let actors: [Move; 3] = [
        |gate, event| gate.apply_mut(event, graph_runner()).is_ok(),
        |gate, event| gate.apply_mut(event, ecs_node()).is_ok(),
        |gate, event| gate.apply_mut(event, tool_node()).is_ok(),
    ];
    let no = || "no".to_owned();
    let lasts = [
        None,
        Some(Event::Succeed { result: "approved".to_owned() }),
        Some(Event::Reject { reason: no() }),
        Some(Event::Fail { error: no(), refusal: None }),
        Some(Event::Suspend { prompt: "Send something else?".to_owned() }),
    ];
    let (gate, mail) = place.asked(mail("bob")).await;
    let id = gate.id();
    let mut begins = Change::begin(mail, tool_node());
    for (last, moves) in lasts.iter().flat_map(|last| actors.map(|moves| (last, moves))) {
        let mut moved: AnyExecution = place.store.load(id).await.unwrap();
        moved.apply_mut(Event::Resume, graph_runner()).unwrap();
        assert!(last.clone().is_none_or(|event| moves(&mut moved, event)), "{last:?}");
        assert_is!(place.refuses_machine(&mut moved).await,
            EffectError::Commit(CommitError::Refused { id: of, .. }) if *of == id);
        let before = place.dump();
        let both = place.store.batch().commit(&mut moved).change(&mut begins).write().await;
        assert_err!(both, EffectError::Commit(CommitError::Refused { id: of, .. }) if *of == id);
        assert_eq!(place.dump(), before);
    }
    let mail = begins.finish().unwrap_err();
    assert!(!place.view(id).await.human_confirmed);
    assert_eq!(place.label(id).await, Label::Waiting);
    assert_eq!(place.label(mail.id()).await, Label::Deferred);
    assert_is!(place.refuses(mail).await, EffectError::Deferred { .. });
    place.approve(gate).await;
}

/// The asker makes the same gate once more, and completes it without asking: before anything is
/// stored, together with the action, and when the gate itself waits.
async fn a_gate_that_never_waited_is_not_completed(place: Place) {
    let (mut gate, mut mail) = gated(mail("bob"));
    let twin = || {
        let twin = Execution::new(gate.context().clone());
        assert_eq!(twin.id(), gate.id());
        twin.start(ecs_node())
    };
    let yes = || "approved".to_owned();
    let mut by_runner = twin().succeed(yes(), graph_runner());
    let mut answered = twin().succeed(yes(), ecs_node());
    let refused = place.store.create(&mut answered).await;
    assert_err!(refused, EffectError::Commit(CommitError::Refused { .. }));
    let both = place.store.batch().create(&mut answered).create(mail.machine()).write().await;
    assert_err!(both, EffectError::Commit(CommitError::Refused { .. }));
    place.store.ask(&mut gate, &mut mail).await.unwrap();
    for twin in [&mut answered, &mut by_runner] {
        let refused = place.store.create(twin).await;
        assert_err!(refused, EffectError::Commit(CommitError::Refused { .. }));
    }
    assert_is!(place.refuses(mail).await, EffectError::Deferred { .. });
}

/// A copy of an approved action is another execution, and was not approved, before the approved one
/// runs and after. Another occurrence is another action.
async fn a_gate_approves_one_execution(place: Place) {
    for contract in [mail("bob"), read("secret.txt")] {
        let planned = place.approved(contract).await;
        let contract = planned.context().clone();
        let gate = contract.behind();
        let weekly = contract.clone().occurrence("2026-W47", graph_runner()).unwrap();
        let copies = [place.stored(contract).await.id(), place.stored(weekly).await.id()];
        let are_refused = async || {
            for id in copies {
                let copy = place.pending(id).await;
                assert_eq!(copy.context().behind(), gate);
                assert_is!(place.refuses(copy).await, EffectError::OtherAction { id: of, gate: by }
                    if *of == id && Some(*by) == gate);
                assert!(!place.view(id).await.human_confirmed);
            }
        };
        are_refused().await;
        let (running, permit) = begin(&place.store, planned).await.unwrap();
        are_refused().await;
        let outcome = not_applied(permit, "connection refused").await;
        let _ = place.settled(running, outcome).await;
        are_refused().await;
    }
}

/// The library never mixes up two gates; a forger does. (An irreversible action that was read from
/// data is not stored at all.)
async fn a_gate_approves_one_action(place: Place) {
    let (to_ann, _a) = place.asked(read("ann.txt")).await;
    let (to_bob, action) = gated(read("bob.txt"));
    let mut claim = forge::claim(&*action);
    let (theirs, mine) = (to_bob.id().to_string(), to_ann.id());
    claim.record.context = claim.record.context.replace(&theirs, &mine.to_string());
    let AnyExecution::Pending(mut action) = forge::cross_execution(claim).unwrap() else {
        panic!("it was pending")
    };
    place.store.create(&mut action).await.unwrap();
    place.approve(to_ann).await;
    assert_is!(place.refuses(action).await, EffectError::OtherAction { gate, .. } if *gate == mine);
}

/// An approval is for one run. After that failed, a person decides about the next one. An
/// idempotent action is asked for again.
async fn an_approval_is_used_once(place: Place) {
    let planned = place.approved(mail("bob")).await;
    let stale = place.pending(planned.id()).await;
    let failed = place.fails(planned).await;
    assert_is!(place.refuses(stale).await, EffectError::Commit(CommitError::Conflict { .. }));
    let copy = place.stored(failed.context().clone()).await;
    assert_is!(place.refuses(copy).await, EffectError::OtherAction { .. });

    let retry = Contract::retry(&failed, ann());
    assert_eq!(retry.behind(), None);
    let done = place.done(retry).await;
    assert!(place.view(done.id()).await.human_confirmed);

    for _ in 0..2 {
        let planned = place.approved(read("secret.txt")).await;
        let service = answers(receipt("the secret"));
        let settled = place.store.perform(planned, service, tool_node()).await.unwrap();
        assert_is!(settled, Settled::Completed(_));
    }
}

/// The time limit of a question is that of its approval too.
async fn an_approval_that_expired_is_not_used(place: Place) {
    let (place, clock) = place.clocked().await;
    let (gate, planned) = place.asked_for(mail("bob"), Duration::from_secs(10)).await;
    assert_eq!(gate.expires_at(), Some(START + 10_000));
    let (id, gate_id) = (planned.id(), gate.id());
    clock.advance(9_999);
    place.approve(gate).await;
    clock.advance(1);
    assert_is!(place.refuses(planned).await, EffectError::ApprovalExpired { id: of, gate, at }
        if (*of, *gate, *at) == (id, gate_id, START + 10_000));
    // In time it would have run.
    clock.advance(-1);
    let _ = place.fails(place.pending(id).await).await;
}

/// A gate that is not in the store counts as missing, not as open. A plain question that the asker
/// completes has another id.
async fn a_missing_gate_is_not_open(place: Place) {
    let (gate, mut mail) = gated(mail("bob"));
    place.store.batch().create(mail.machine()).write().await.unwrap();
    let question = Contract::ecs_request(gate.question(), reasoning_node()).unwrap();
    let question = Execution::new(question).start(ecs_node());
    let mut answered = question.succeed("yes".to_owned(), ecs_node());
    place.store.create(&mut answered).await.unwrap();
    assert_ne!(answered.id(), gate.id());
    assert_err!(place.store.gate(answered.id()).await, StateError::NotAGate { .. });
    let id = mail.id();
    assert_is!(place.refuses(mail).await, EffectError::Gate { id: of, source } if *of == id
        && matches!(**source, StateError::Load(LoadError::NotFound { id: missing }) if missing == gate.id()));
}

/// It cannot be created as already started either.
async fn an_action_is_not_created_past_its_gate(place: Place) {
    let (mut gate, action) = gated(read("secret.txt"));
    let mut running = action.into_execution().start(tool_node());
    let both = place.store.batch().create(gate.machine()).create(&mut running).write().await;
    assert_err!(both, EffectError::Deferred { .. });
    place.store.batch().create(gate.machine()).write().await.unwrap();
    let mut done = running.succeed("the secret".to_owned(), tool_node());
    assert_is!(place.refuses_machine(&mut done).await, EffectError::Deferred { .. });
}

/// A gate whose row was edited to COMPLETED does not open: its seal differs.
#[tokio::test]
async fn a_gate_that_was_edited_by_hand_opens_nothing() {
    let place = Place::new().await;
    let (gate, mail) = place.asked(mail("bob")).await;
    place.edit("UPDATE instance SET status = 'completed' WHERE id = ?1", gate.id());
    let id = mail.id();
    assert_is!(place.refuses(mail).await, EffectError::Gate { id: of, source }
        if *of == id && matches!(**source, StateError::Load(LoadError::Unreadable(VerifyError::History { .. }))));
    assert_eq!(place.status(id).await, Status::Pending);
}
