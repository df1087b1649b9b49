//! Deferred, released and refused actions behind a gate.

use machine::{
    contract::Release,
    observe::Observer,
    view::{ExecutionTimeline, Human, View},
};

use crate::effects::prelude::*;

on_file! {
    the_three_are_distinct_and_listed,
}

async fn release(place: &Place, id: Id) -> (Label, Option<Release>) {
    let execution: AnyExecution = place.store.load(id).await.unwrap();
    (Label::of(&execution), Release::of(&execution))
}

async fn the_three_are_distinct_and_listed(place: Place) {
    let asked = async |to| {
        let (gate, planned) = place.asked(mail(to).session("s")).await;
        (gate, planned.id())
    };
    let (_open, deferred) = asked("ann@example.com").await;
    let (approved, released) = asked("bob@example.com").await;
    let (declined, refused) = asked("eve@example.com").await;
    let free = place.stored(mail("tom@example.com").session("s")).await.id();
    place.approve(approved).await;
    let _ = place.store.decline(declined, "wrong address", ann()).await.unwrap();

    assert_eq!(release(&place, deferred).await, (Label::Deferred, Some(Release::Deferred)));
    assert_eq!(release(&place, released).await, (Label::NotStarted, Some(Release::Released)));
    assert_eq!(release(&place, refused).await, (Label::Cancelled, Some(Release::Refused)));
    assert_eq!(release(&place, free).await, (Label::NotStarted, None));
    let ids = [deferred, released, refused];
    let all = [Release::Deferred, Release::Released, Release::Refused];
    for (wanted, id) in all.into_iter().zip(ids) {
        let found = place.lines(&Query::new().release(wanted)).await;
        assert_eq!(found.iter().map(|line| line.id).collect::<Vec<_>>(), [id], "{wanted:?}");
        assert_eq!(place.lines(&Query::new().release(wanted).session("other")).await, []);
    }

    let observer = Observer::new(&place.store);
    let prompt = observer.consequences("s").await.unwrap().prompt().to_string();
    for line in [
        "[DEFERRED] email.send → ann@example.com",
        "[NOT_STARTED] email.send → bob@example.com",
        "[CANCELLED] email.send → eve@example.com: declined by ann: wrong address",
    ] {
        assert!(prompt.lines().any(|found| found == line), "{line}\n{prompt}");
    }
    let views = observer.consequences("s").await.unwrap().executions.clone();
    let view = views.iter().find(|view| view.execution_id == refused).unwrap();
    assert!(!view.is_still_pending);
    let timeline: View<ExecutionTimeline<Human>> = observer.session("s").await.unwrap();
    let of = |id| timeline.contracts.iter().find(|it| it.execution_id == id).unwrap().release;
    assert_eq!(ids.map(of), all.map(Some));
    // Two gates and the refused mail have ended.
    assert_eq!((timeline.terminal_contracts, timeline.active_contracts), (3, 4));
    place.assert_intact().await;
}
