//! Deadlines at a point in time, from `at = ..`.

use std::time::{Duration, SystemTime};

use machine::{
    actor::{Anyone, GraphRunner},
    clock::Millis,
    definition::Definition,
    machine,
    store::Query,
    typed::Reason,
    view::Topology,
};
use serde::{Deserialize, Serialize};

use crate::store::support::{Place, START, on_file};

on_file! {
    a_point_in_time_does_not_depend_on_the_commit,
    a_time_that_has_passed_is_due_at_once,
    none_is_no_deadline,
}

/// A subscription, whose data say when it ends.
#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Subscription {
    #[initial]
    #[on(pay(paid_until) => Paid)]
    #[on(trial_over => Over, by = GraphRunner, at = trial_end)]
    Trial { trial_end: Option<SystemTime> },
    #[on(renew(paid_until) => Paid)]
    #[on(lapse => Over, by = GraphRunner, at = paid_until)]
    Paid { paid_until: i64 },
    #[terminal]
    Over,
}

/// The deadlines that are running, with their times.
fn due(subscription: &AnySubscription) -> Vec<(&str, Option<Millis>)> {
    let running = subscription.journal().deadlines().iter();
    running.map(|due| (&*due.trigger, due.due_at)).collect()
}

fn trial(end: Option<SystemTime>) -> AnySubscription {
    Subscription::new(end).into()
}

/// A deadline that is counted from the entry starts with the commit. This one is the same before
/// and after it.
async fn a_point_in_time_does_not_depend_on_the_commit(place: Place) {
    use subscription::Event::{Pay, Renew};

    let (place, clock) = place.clocked().await;
    clock.set(START + 100);
    let trial_end = Duration::from_millis((START + 500).unsigned_abs());
    let new = trial(Some(SystemTime::UNIX_EPOCH + trial_end));
    assert_eq!(due(&new), [("trial_over", Some(START + 500))]);
    let new = place.created(new).await;
    assert_eq!(due(&new), [("trial_over", Some(START + 500))]);
    let refused = new.fire_deadline("trial_over", place.store.now()).unwrap_err();
    assert_eq!(refused.reason.reason(), &Reason::NotDue(400));

    let mut paid = refused.machine;
    for (at, event, expected) in [
        (300, Pay { paid_until: START + 2_000 }, START + 2_000),
        // It is entered again.
        (2_500, Renew { paid_until: START + 3_000 }, START + 3_000),
    ] {
        paid.apply_mut(event, &Anyone).unwrap();
        clock.set(START + at);
        place.store.commit(&mut paid).await.unwrap();
        assert_eq!(due(&paid), [("lapse", Some(expected))]);
        let loaded: AnySubscription = place.store.load(paid.id()).await.unwrap();
        assert_eq!(due(&loaded), due(&paid));
        assert_eq!(place.lines(&Query::new()).await[0].due_at, Some(expected));
        assert_eq!(place.lines(&Query::new().due()).await, []);
    }
    clock.set(START + 3_000);
    assert_eq!(place.lines(&Query::new().due()).await.len(), 1);
    let over = paid.fire_deadline("lapse", place.store.now()).unwrap();
    assert_eq!(over.status(), subscription::Status::Over);
}

async fn a_time_that_has_passed_is_due_at_once(place: Place) {
    let (place, _clock) = place.clocked().await;
    let late = place.created(trial(Some(SystemTime::UNIX_EPOCH))).await;
    assert_eq!(due(&late), [("trial_over", Some(0))]);
    assert_eq!(place.lines(&Query::new().due()).await.len(), 1);
    let over = late.fire_deadline("trial_over", place.store.now()).unwrap();
    assert_eq!(over.status(), subscription::Status::Over);
}

async fn none_is_no_deadline(place: Place) {
    let endless = place.created(trial(None)).await;
    assert!(due(&endless).is_empty());
    assert_eq!(place.lines(&Query::new()).await[0].due_at, None);
}

#[test]
fn the_table_says_that_it_is_a_point_in_time() {
    let topology = Topology::of(subscription::DEFINITION);
    let at: Vec<_> = topology.edges.iter().filter_map(|edge| edge.at.as_deref()).collect();
    assert_eq!(at, ["trial_end", "paid_until"]);
    assert!(topology.edges.iter().all(|edge| edge.after.is_none()));

    let text = serde_json::to_string(subscription::DEFINITION).unwrap();
    let read: Definition = serde_json::from_str(&text).unwrap();
    assert_eq!(&read, subscription::DEFINITION);
    let absolute = |edge: &machine::definition::Edge| Some(edge.deadline.as_ref()?.absolute);
    assert_eq!(read.edges.iter().filter_map(absolute).collect::<Vec<_>>(), [true, true]);
}
