//! Deferred, released and refused actions behind a gate.

use machine::{
    Id,
    contract::{Action, AnyExecution, CallFact, Gate, Planned, Release},
    effects::Decide,
    store::Query,
    view::{ExecutionTimeline, Human, Label, Observer},
};
use machine_tests::{
    actors::{ann, ecs_node, graph_runner},
    samples::mail,
};

use crate::store::support::{Place, on_both};

on_both! {
    the_three_are_told_apart_and_listed,
    an_action_ends_with_its_gate_whoever_ends_it,
    an_action_that_is_not_there_keeps_no_gate_from_ending,
}

async fn release(place: &Place, id: Id) -> (Label, Option<Release>) {
    let execution: AnyExecution = place.store.load(id).await.unwrap();
    (Label::of(&execution), Release::of(&execution))
}

async fn the_three_are_told_apart_and_listed(place: Place) {
    let asked = async |to| {
        let (gate, planned) = place.asked(mail(to).session("s")).await;
        (gate, planned.id())
    };
    let (_open, deferred) = asked("ann@example.com").await;
    let (approved, released) = asked("bob@example.com").await;
    let (declined, refused) = asked("eve@example.com").await;
    let free = place.stored(mail("tom@example.com").session("s")).await.id();
    let _ = machine_tests::approve(&place.store, approved, ann()).await.unwrap();
    let _ = place.store.decline(declined, "wrong address", ann()).await.unwrap();

    assert_eq!(release(&place, deferred).await, (Label::Deferred, Some(Release::Deferred)));
    assert_eq!(release(&place, released).await, (Label::NotStarted, Some(Release::Released)));
    assert_eq!(release(&place, refused).await, (Label::Cancelled, Some(Release::Refused)));
    assert_eq!(release(&place, free).await, (Label::NotStarted, None));
    let ids = [deferred, released, refused];
    for (wanted, id) in Release::ALL.into_iter().zip(ids) {
        let found = place.lines(&Query::new().release(wanted)).await;
        assert_eq!(found.iter().map(|line| line.id).collect::<Vec<_>>(), [id], "{wanted:?}");
        assert_eq!(place.lines(&Query::new().release(wanted).session("other")).await, []);
    }

    let observer = Observer::new(&place.store);
    let prompt = observer.consequences("s").await.unwrap().prompt().to_string();
    for line in [
        "[DEFERRED] email.send → ann@example.com",
        "[NOT_STARTED] email.send → bob@example.com",
        "[CANCELLED] email.send → eve@example.com: not approved: wrong address",
    ] {
        assert!(prompt.lines().any(|found| found == line), "{line}\n{prompt}");
    }
    let views = observer.consequences("s").await.unwrap().executions;
    let view = views.iter().find(|view| view.execution_id == refused).unwrap();
    assert!(!view.is_still_pending);
    let timeline: ExecutionTimeline<Human> = observer.session("s").await.unwrap();
    let of = |id| timeline.contracts.iter().find(|it| it.execution_id == id).unwrap().release;
    assert_eq!(ids.map(of), Release::ALL.map(Some));
    // Two gates and the refused mail have ended.
    assert_eq!((timeline.terminal_contracts, timeline.active_contracts), (3, 4));
    assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
}

/// The ways in which a gate ends without an approval.
#[derive(Debug, Clone, Copy)]
enum Ends {
    Declined,
    DeclinedInBatch,
    Withdrawn,
    Expired,
    CommittedByHand,
}

/// The batch that ends the gate ends the action, in a store that no worker drives.
async fn an_action_ends_with_its_gate_whoever_ends_it(place: Place) {
    let (place, clock) = place.clocked().await;
    for (ends, reason) in [
        (Ends::Declined, "not approved: no"),
        (Ends::DeclinedInBatch, "not approved: no"),
        (Ends::Withdrawn, "not approved: not needed"),
        (Ends::Expired, "not approved: nobody answered in time"),
        (Ends::CommittedByHand, "not approved: not needed"),
    ] {
        let limit = std::time::Duration::from_millis(10);
        let (mut gate, mut planned): (Gate, Planned<Action>) =
            mail("bob").ask(Some(limit), ecs_node()).unwrap();
        place.store.ask(&mut gate, &mut planned).await.unwrap();
        let (id, store) = (planned.id(), &place.store);
        match ends {
            Ends::Declined => drop(store.decline(gate, "no", ann()).await.unwrap()),
            Ends::DeclinedInBatch => {
                let mut decide = Decide::decline(gate, "no", ann());
                store.batch().decide(&mut decide).write().await.unwrap();
            }
            Ends::Withdrawn => {
                drop(store.withdraw(gate, "not needed", graph_runner()).await.unwrap());
            }
            Ends::Expired => {
                clock.advance(10);
                drop(store.expire(gate, graph_runner()).await.unwrap());
            }
            Ends::CommittedByHand => {
                let AnyExecution::Waiting(gate) = store.load(gate.id()).await.unwrap() else {
                    panic!("it waits")
                };
                let mut gate = gate.cancel("not needed".to_owned(), graph_runner());
                store.commit(&mut gate).await.unwrap();
            }
        }
        let AnyExecution::Cancelled(ended) = store.load(id).await.unwrap() else {
            panic!("{ends:?}")
        };
        assert_eq!(ended.state().reason, reason, "{ends:?}");
        let entries = place.entries(id).await;
        let closed = entries.iter().find(|entry| CallFact::of(entry).is_some()).unwrap();
        let person = matches!(ends, Ends::Declined | Ends::DeclinedInBatch).then_some("ann");
        assert_eq!(closed.by.as_deref(), person, "{ends:?}");
    }
    assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
}

/// Its gate was stored alone.
async fn an_action_that_is_not_there_keeps_no_gate_from_ending(place: Place) {
    let (mut gate, _planned) = crate::store::support::gated(mail("bob"));
    place.store.batch().create(gate.machine()).write().await.unwrap();
    let id = gate.id();
    drop(place.store.withdraw(gate, "not needed", graph_runner()).await.unwrap());
    assert_eq!(release(&place, id).await, (Label::Cancelled, None));
}
