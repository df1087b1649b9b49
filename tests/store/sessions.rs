//! The list of sessions. Its order and its figures are a promise of every backend.

use machine::store::SessionLine;
use machine_tests::samples::read;

use crate::store::support::{Place, blob, on_both};

on_both! {
    no_session_is_missed_or_listed_twice_while_machines_come,
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
