//! The list of sessions. Its order and its figures are a promise of every backend.

use machine::{
    contract::Execution,
    effects::EffectError,
    machine,
    observe::Observer,
    store::{CommitError, Query, SessionLine},
    stored::{Context, Index},
    view::{ExecutionTimeline, Human, Snapshot, View},
};
use machine_tests::{assert_err, samples::read};
use serde::{Deserialize, Serialize};

use crate::store::support::{Place, blob, on_file};

on_file! {
    no_session_is_missed_or_listed_twice_while_machines_come,
    an_id_has_one_form,
    what_cannot_be_an_id_is_refused,
}

/// Belongs to the session that its context names.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Trip {
    session: String,
}

impl Context for Trip {
    type Summary = ();

    fn index(&self, (): &()) -> Index {
        let mut index = Index::default();
        index.session = Some(self.session.clone());
        index
    }
}

#[machine(durable, context = Trip)]
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Stay {
    #[initial]
    #[on(leave => Left)]
    Booked,
    #[terminal]
    Left,
}

fn names(lines: &[SessionLine]) -> Vec<&str> {
    lines.iter().map(|line| line.session.as_str()).collect()
}

async fn no_session_is_missed_or_listed_twice_while_machines_come(place: Place) {
    for number in 0..9 {
        let _ = place.stored(read("x").session(format!("s{number}"))).await;
    }
    let first = place.store.sessions(3, None).await.unwrap();
    assert_eq!(names(&first.items), ["s8", "s7", "s6"]);
    // Both a listed session and one that follows get a machine, and a new one comes.
    for session in ["s7", "s4", "new"] {
        let _ = place.stored(read("x").session(session)).await;
    }
    // A cursor may have been text in between.
    let next = first.next.unwrap().to_string().parse().unwrap();
    let second = place.store.sessions(3, Some(next)).await.unwrap();
    assert_eq!(names(&second.items), ["s5", "s4", "s3"]);
    // The totals of a session are current.
    assert_eq!(second.items[1].machines, 2);
    let _ = place.stored(read("x").session("s1")).await;
    let third = place.store.sessions(3, second.next).await.unwrap();
    assert_eq!(names(&third.items), ["s2", "s1", "s0"]);
    assert!(third.next.is_none());
    // A page has at least one.
    assert_eq!(names(&place.store.sessions(0, None).await.unwrap().items), ["s1"]);
    assert_eq!(names(&place.store.sessions(3, None).await.unwrap().items), ["s1", "new", "s4"]);
}

/// What looks the same is the same, whether a program or a person wrote it.
async fn an_id_has_one_form(place: Place) {
    let forms = ["caf\u{e9}", "cafe\u{301}"];
    let observer = Observer::new(&place.store);
    for form in forms {
        let _ = place.stored(read("x").session(form)).await;
        let stay = place.created(Stay::new(Trip { session: form.to_owned() })).await;
        let stored = observer.snapshot::<Human>(stay.id()).await.unwrap();
        let live = Snapshot::<Human>::of(&stay, place.store.now()).unwrap();
        for snapshot in [stored, live] {
            assert_eq!(snapshot.session.as_deref(), Some(forms[0]));
        }
    }
    assert_eq!(names(&place.store.sessions(10, None).await.unwrap().items), [forms[0]]);
    for form in forms {
        let page = place.store.list(&Query::new().session(form)).await.unwrap();
        assert_eq!(page.items.len(), 4);
        let timeline: View<ExecutionTimeline<Human>> = observer.session(form).await.unwrap();
        assert_eq!(timeline.total_contracts, 2);
    }
    assert!(place.store.verify_all(|_| {}).await.unwrap().problems.is_empty());
}

async fn what_cannot_be_an_id_is_refused(place: Place) {
    let longest = "x".repeat(256);
    let _ = place.stored(read("x").session(&longest)).await;
    let before = place.dump();
    for wrong in [".", "..", "", " ", "\u{200b}\t", &format!("{longest}x")] {
        let mut call = Execution::new(read("x").session(wrong));
        let error = place.store.create(&mut call).await.unwrap_err();
        assert!(error.to_string().contains("; use a"), "{error}");
        let mut stay = Stay::new(Trip { session: wrong.to_owned() });
        let refused = place.store.create(&mut stay).await;
        assert_err!(refused, EffectError::Commit(CommitError::Refused { .. }));
    }
    assert_eq!(place.dump(), before);
}

/// One session with a name that cannot be read does not hide the others.
#[tokio::test]
async fn a_name_that_is_not_text_is_shown_as_far_as_possible() {
    let place = Place::new().await;
    let broken = place.stored(read("x").session("s0")).await.id();
    let _ = place.stored(read("x").session("s1")).await;
    let sql = "UPDATE instance SET session = CAST(x'7330ff' AS TEXT) WHERE id = ?1";
    assert_eq!(place.unprotected().execute(sql, [blob(broken)]).unwrap(), 1);
    let found = place.store.sessions(10, None).await.unwrap().items;
    assert_eq!(names(&found), ["s1", "s0\u{fffd}"]);
    assert_eq!(found[1].machines, 1);
}
