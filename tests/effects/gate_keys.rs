//! Two questions about one action: what was done once is not approved again (EX-7).

use machine::{
    contract::{NotDone, Settled, execution::Waiting},
    store::{CommitError, LoadError},
    view::{Attention, Human, NextStep, Observer},
};
use machine_tests::{
    actors::{ann, tool_node},
    assert_err,
    samples::{answers, mail, receipt},
};

use crate::store::support::{Place, on_both};

on_both! {
    what_was_done_is_not_approved_again,
    what_may_be_under_way_is_approved_with_a_caution,
}

async fn what_was_done_is_not_approved_again(place: Place) {
    let store = &place.store;
    let (first, paid) = place.asked(mail("bob")).await;
    let (second, other) = place.asked(mail("bob")).await;
    let (seen, id) = (store.gate(second.id()).await.unwrap(), second.id());
    let _ = machine_tests::approve(store, first, ann()).await.unwrap();
    let by = paid.id();
    let settled = store.perform(paid, receipt("250 queued"), tool_node()).await.unwrap();
    assert!(matches!(settled, Settled::Completed(_)), "{settled:?}");

    assert_err!(store.resume::<Waiting>(id).await,
        LoadError::AlreadyDone { id: of, done } if *of == id && done.by == by);
    let refused = machine_tests::approve(store, second, ann()).await.unwrap_err();
    let text = refused.reason.to_string();
    let CommitError::GateDone { done, .. } = refused.reason else { panic!("{text}") };
    assert_eq!((done.by, done.approved_by.as_deref()), (by, Some("ann")));
    assert!(done.at.is_some_and(|at| at <= store.now()), "{done:?}");
    let said =
        format!("{by} has already done the same 0 s ago (recorded by: tool; approved by ann)");
    assert!(text.contains(&said), "{text}");

    let observer = Observer::new(store);
    assert_eq!(observer.next(id).await.unwrap(), [NextStep::Cancel { id }]);
    assert_eq!(observer.next(other.id()).await.unwrap(), [NextStep::Cancel { id: other.id() }]);
    let attention: Attention<Human> =
        observer.attention(&machine::store::Query::new()).await.unwrap();
    let concern = attention.concerns.iter().find(|it| it.id == Some(id)).unwrap();
    assert!(concern.cause.as_ref().unwrap().contains(&said), "{concern:?}");
    // A person can still say no, which ends both.
    let _ = store.decline(seen, "it was sent", ann()).await.unwrap();
    assert!(place.status(other.id()).await.definition().terminal);
}

/// The key is held: whether the first one took effect is not known yet.
async fn what_may_be_under_way_is_approved_with_a_caution(place: Place) {
    let store = &place.store;
    let (first, paid) = place.asked(mail("bob")).await;
    let (second, other) = place.asked(mail("bob")).await;
    let _ = machine_tests::approve(store, first, ann()).await.unwrap();
    let (by, id) = (paid.id(), second.id());
    let unknown = answers(Err(NotDone::unknown("connection lost")));
    let settled = store.perform(paid, unknown, tool_node()).await.unwrap();
    let Settled::InDoubt(doubt) = settled else { panic!("{settled:?}") };

    let observer = Observer::new(store);
    let steps = [NextStep::Approve { id }, NextStep::Decline { id }];
    assert_eq!(observer.next(id).await.unwrap(), steps);
    let attention: Attention<Human> =
        observer.attention(&machine::store::Query::new()).await.unwrap();
    let concern = attention.concerns.iter().find(|it| it.id == Some(id)).unwrap();
    let caution = concern.cause.as_ref().unwrap();
    assert!(caution.starts_with(&format!("{by} has tried the same, and is in doubt")), "{caution}");

    let _ = machine_tests::approve(store, second, ann()).await.unwrap();
    let other = store.perform(other, receipt("twice"), tool_node()).await.unwrap_err();
    assert_err!(Err::<(), _>(other.reason()), CommitError::KeyHeld { .. });
    let _ = store.confirm_applied(doubt, "seen", ann()).await.unwrap();
}
