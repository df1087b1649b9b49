//! Gates that are answered in the batch of what waits behind them.

use machine::{
    contract::{
        CallFact,
        execution::{Status, Waiting},
    },
    effects::{Begin, Decide},
    store::CommitError,
};
use machine_tests::{
    actors::{ann, graph_runner, tool_node},
    assert_err,
    samples::{mail, read},
};

use crate::store::support::{Place, on_both};

on_both! {
    a_gate_may_open_in_the_batch_of_what_waits_behind_it,
    a_gate_that_does_not_open_in_the_batch_keeps_it_back,
    a_gate_that_another_closed_opens_nothing,
    an_idempotent_action_may_start_in_the_batch_of_its_gate,
}

/// The answer and the begin behind it are one batch, in either order.
async fn a_gate_may_open_in_the_batch_of_what_waits_behind_it(place: Place) {
    for gate_is_first in [true, false] {
        let place = place.another().await;
        let (gate, mail) = place.asked(mail("bob")).await;
        let id = gate.id();
        let mut decide = machine_tests::approval(gate, ann());
        let mut begin = Begin::new(mail, tool_node());
        let batch = place.store.batch();
        let batch = if gate_is_first {
            batch.decide(&mut decide).begin(&mut begin)
        } else {
            batch.begin(&mut begin).decide(&mut decide)
        };
        batch.write().await.unwrap();
        let (running, permit) = begin.finish().unwrap();
        assert_eq!(permit.execution_id(), running.id());
        assert!(place.view(running.id()).await.human_confirmed);
        let facts = place.facts(running.id()).await;
        assert!(matches!(&facts[1],
            CallFact::Permitted { approved_by: Some(name), .. } if name == "ann"));
        assert!(decide.finish().unwrap().approved);
        assert_eq!(place.status(id).await, Status::Completed);
        assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
    }
}

async fn a_gate_that_does_not_open_in_the_batch_keeps_it_back(place: Place) {
    // Declined in the batch.
    let (gate, mail_to_bob) = place.asked(mail("bob")).await;
    let id = gate.id();
    let mut decide = Decide::decline(gate, "no", ann());
    let mut begin = Begin::new(mail_to_bob, tool_node());
    let before = place.dump().await;
    let refused = place.store.batch().decide(&mut decide).begin(&mut begin).write().await;
    assert_err!(refused, CommitError::NeverRuns { gate: by, status: Status::Rejected, .. }
        if *by == id);
    assert_eq!(place.dump().await, before);

    // Withdrawn in the batch.
    let gate = decide.finish().unwrap_err();
    let waiting = place.store.resume::<Waiting>(gate.id()).await.unwrap();
    let mut cancelled = waiting.cancel("no".to_owned(), graph_runner());
    let refused = place.store.batch().commit(&mut cancelled).begin(&mut begin).write().await;
    assert_err!(refused, CommitError::NeverRuns { status: Status::Cancelled, .. });
    assert_eq!(place.dump().await, before);

    // Another gate is answered in the batch.
    let (_gate, mail_to_carl) = place.asked(mail("carl")).await;
    let (other, _mail) = place.asked(mail("dora")).await;
    let mut decide = machine_tests::approval(other, ann());
    let mut begin = Begin::new(mail_to_carl, tool_node());
    let refused = place.store.batch().decide(&mut decide).begin(&mut begin).write().await;
    assert_err!(refused, CommitError::Deferred { status: Status::Waiting, .. });
    assert!(begin.finish().is_err() && decide.finish().is_err());
}

/// The batch has a stale gate: another process withdrew it in the meantime.
async fn a_gate_that_another_closed_opens_nothing(place: Place) {
    let (gate, mail) = place.asked(mail("bob")).await;
    let (id, gate_id) = (mail.id(), gate.id());
    let theirs = place.store.gate(gate_id).await.unwrap();
    let _ = place.store.withdraw(theirs, "no", graph_runner()).await.unwrap();
    let mut decide = machine_tests::approval(gate, ann());
    let mut begin = Begin::new(mail, tool_node());
    let before = place.dump().await;
    let refused = place.store.batch().decide(&mut decide).begin(&mut begin).write().await;
    assert_err!(refused, CommitError::GateEnded { id, .. } if *id == gate_id);
    assert_eq!(place.dump().await, before);
    assert_eq!(place.status(id).await, Status::Cancelled);
}

async fn an_idempotent_action_may_start_in_the_batch_of_its_gate(place: Place) {
    let (gate, action) = place.asked(read("secret.txt")).await;
    let mut decide = machine_tests::approval(gate, ann());
    let mut running = action.into_execution().start(tool_node());
    assert_err!(place.store.commit(&mut running).await, CommitError::Deferred { .. });
    place.store.batch().commit(&mut running).decide(&mut decide).write().await.unwrap();
    assert_eq!(place.status(running.id()).await, Status::Running);
}
