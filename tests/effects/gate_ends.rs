//! Gates that end without an approval: the action behind them never runs.

use machine::contract::Release;

use crate::effects::prelude::*;

on_file! {
    a_gate_that_ends_without_a_yes_ends_its_action,
    a_gate_that_does_not_open_in_the_batch_keeps_it_back,
    a_gate_that_was_stored_alone_can_end,
}

/// The ways in which a gate ends without an approval.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Ends {
    Declined,
    DeclinedInBatch,
    Withdrawn,
    Expired,
    CommittedByHand,
}

impl Ends {
    async fn end(self, place: &Place, clock: &Hand, gate: Gate) {
        let store = &place.store;
        match self {
            Self::Declined => drop(place.decline(gate).await),
            Self::DeclinedInBatch => {
                let mut decide = Change::decline(gate, "no", ann());
                store.batch().change(&mut decide).write().await.unwrap();
            }
            Self::Withdrawn => drop(store.withdraw(gate, "no", graph_runner()).await.unwrap()),
            Self::Expired => {
                clock.advance(10);
                drop(store.expire(gate, graph_runner()).await.unwrap());
            }
            Self::CommittedByHand => {
                let waiting = store.resume::<Waiting>(gate.id()).await.unwrap();
                let mut cancelled = waiting.cancel("no".to_owned(), graph_runner());
                store.commit(&mut cancelled).await.unwrap();
            }
        }
    }
}

/// The batch that ends the gate ends the action, in a store that no worker drives. It never runs,
/// and the gate is not answered by those who loaded it before.
async fn a_gate_that_ends_without_a_yes_ends_its_action(place: Place) {
    let (place, clock) = place.clocked().await;
    let limit = Duration::from_millis(10);
    for (ends, ended_as, reason) in [
        (Ends::Declined, Status::Rejected, "no"),
        (Ends::DeclinedInBatch, Status::Rejected, "no"),
        (Ends::Withdrawn, Status::Cancelled, "no"),
        (Ends::Expired, Status::Cancelled, "not answered in time"),
        (Ends::CommittedByHand, Status::Cancelled, "no"),
    ] {
        let (gate, planned) = place.asked_for(mail("bob"), limit).await;
        let (id, gate_id) = (planned.id(), gate.id());
        let (stale, other) = (place.gate(gate_id).await, place.gate(gate_id).await);
        ends.end(&place, &clock, gate).await;
        assert_eq!(place.status(gate_id).await, ended_as, "{ends:?}");
        let ended = place.cancelled(id).await;
        assert_eq!(ended.state().reason, format!("not approved: {reason}"), "{ends:?}");
        let entries = place.entries(id).await;
        let closed = entries.iter().find(|entry| CallFact::of(entry).is_some()).unwrap();
        let is_declined = ended_as == Status::Rejected;
        assert_eq!(closed.by.as_deref(), is_declined.then_some("ann"), "{ends:?}");
        assert!(!place.view(id).await.human_confirmed, "{ends:?}");

        assert_is!(place.refuses(planned).await, EffectError::NeverRuns { id: of, gate, status }
            if (*of, *gate, *status) == (id, gate_id, ended_as));
        let (_, refused) = place.refuses_approval(stale).await;
        if is_declined {
            assert_is!(refused, EffectError::AlreadyDecided { .. });
        } else {
            assert_is!(refused, EffectError::GateEnded { id, .. } if *id == gate_id);
            let found = format!("CANCELLED ({reason})");
            assert_err!(place.store.gate(gate_id).await, StateError::NotAGate { id, found: as_what }
                if *id == gate_id && *as_what == found);
        }
        // Nor in a batch with the action.
        let mut decide = machine_tests::approval(other, ann());
        let refused = place.store.batch().change(&mut decide).write().await;
        assert_err!(refused, EffectError::GateEnded { .. } | EffectError::AlreadyDecided { .. });

        // The key was never taken.
        let retry = place.stored(Contract::retry(&ended, ann())).await;
        let _ = place.fails(retry).await;
    }
    place.assert_intact().await;
}

async fn a_gate_that_does_not_open_in_the_batch_keeps_it_back(place: Place) {
    // Declined in the batch.
    let (gate, mail_to_bob) = place.asked(mail("bob")).await;
    let (id, mail_id) = (gate.id(), mail_to_bob.id());
    let theirs = place.gate(id).await;
    let mut decide = Change::decline(gate, "no", ann());
    let mut begin = Change::begin(mail_to_bob, tool_node());
    let before = place.dump();
    let refused = place.store.batch().change(&mut decide).change(&mut begin).write().await;
    assert_err!(refused, EffectError::NeverRuns { gate: by, status: Status::Rejected, .. }
        if *by == id);
    assert_eq!(place.dump(), before);

    // Withdrawn in the batch.
    let gate = decide.finish().unwrap_err();
    let waiting = place.store.resume::<Waiting>(gate.id()).await.unwrap();
    let mut cancelled = waiting.cancel("no".to_owned(), graph_runner());
    let refused = place.store.batch().commit(&mut cancelled).change(&mut begin).write().await;
    assert_err!(refused, EffectError::NeverRuns { status: Status::Cancelled, .. });
    assert_eq!(place.dump(), before);

    // Another process withdrew it in the meantime.
    let _ = place.store.withdraw(theirs, "no", graph_runner()).await.unwrap();
    let mut decide = machine_tests::approval(gate, ann());
    let before = place.dump();
    let refused = place.store.batch().change(&mut decide).change(&mut begin).write().await;
    assert_err!(refused, EffectError::GateEnded { id: of, .. } if *of == id);
    assert_eq!(place.dump(), before);
    assert_eq!(place.status(mail_id).await, Status::Cancelled);

    // Another gate is answered in the batch.
    let (_gate, mail_to_carl) = place.asked(mail("carl")).await;
    let (other, _mail) = place.asked(mail("dora")).await;
    let mut decide = machine_tests::approval(other, ann());
    let mut begin = Change::begin(mail_to_carl, tool_node());
    let refused = place.store.batch().change(&mut decide).change(&mut begin).write().await;
    assert_err!(refused, EffectError::Deferred { status: Status::Waiting, .. });
    assert!(begin.finish().is_err() && decide.finish().is_err());
}

async fn a_gate_that_was_stored_alone_can_end(place: Place) {
    let (mut gate, _planned) = gated(mail("bob"));
    place.store.batch().create(gate.machine()).write().await.unwrap();
    let id = gate.id();
    drop(place.store.withdraw(gate, "not needed", graph_runner()).await.unwrap());
    let ended: AnyExecution = place.store.load(id).await.unwrap();
    assert_eq!((Label::of(&ended), Release::of(&ended)), (Label::Cancelled, None));
}
