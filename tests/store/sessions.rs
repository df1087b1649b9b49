//! The list of sessions.

use machine::store::{InvalidCursor, Query, SessionCursor, SessionLine};
use machine_tests::{
    actors::tool_node,
    samples::{Ticket, read},
};

use crate::store::support::{Place, blob, on_both};

on_both! {
    the_session_with_the_newest_machine_comes_first,
    no_session_is_missed_or_listed_twice_while_machines_come,
    every_machine_with_a_session_is_counted,
}

/// All sessions, in pages of this size.
async fn sessions(place: &Place, limit: usize) -> Vec<SessionLine> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = place.store.sessions(limit, after).await.unwrap();
        assert!(page.items.len() <= limit.max(1));
        all.extend(page.items);
        let Some(next) = page.next else { return all };
        // A cursor may have been text in between.
        after = Some(next.to_string().parse().unwrap());
    }
}

fn names(lines: &[SessionLine]) -> Vec<&str> {
    lines.iter().map(|line| line.session.as_str()).collect()
}

async fn the_session_with_the_newest_machine_comes_first(place: Place) {
    assert!(sessions(&place, 10).await.is_empty());
    // One without a session belongs to none.
    place.store.create(&mut Ticket::new()).await.unwrap();
    assert!(sessions(&place, 10).await.is_empty());
    for session in ["a", "b", "c", "a"] {
        let _ = place.stored(read("x").session(session)).await;
    }
    let found = sessions(&place, 10).await;
    assert_eq!(names(&found), ["a", "c", "b"]);
    let lines = place.lines(&Query::new().session("a")).await;
    assert_eq!((found[0].machines, found[0].created_at), (2, lines[0].created_at));

    // A change is no new machine, and is the newest one of its session.
    let id = place.lines(&Query::new().session("b")).await[0].id;
    let mut running = place.pending(id).await.start(tool_node());
    place.store.commit(&mut running).await.unwrap();
    let found = sessions(&place, 10).await;
    assert_eq!(names(&found), ["a", "c", "b"]);
    let changed = &place.lines(&Query::new().session("b")).await[0];
    assert_eq!((found[2].machines, found[2].updated_at), (1, changed.updated_at));
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
    let second = place.store.sessions(3, first.next).await.unwrap();
    assert_eq!(names(&second.items), ["s5", "s4", "s3"]);
    // The totals of a session are current.
    assert_eq!(second.items[1].machines, 2);
    let _ = place.stored(read("x").session("s1")).await;
    let third = place.store.sessions(3, second.next).await.unwrap();
    assert_eq!(names(&third.items), ["s2", "s1", "s0"]);
    assert!(third.next.is_none());
    assert_eq!(names(&place.store.sessions(3, None).await.unwrap().items), ["s1", "new", "s4"]);
}

async fn every_machine_with_a_session_is_counted(place: Place) {
    for number in 0..60 {
        let _ = place.stored(read("x").session(format!("s{}", number % 7))).await;
    }
    let all = sessions(&place, usize::MAX).await;
    assert_eq!(all.iter().map(|line| line.machines).sum::<u64>(), 60);
    for limit in [0, 1, 2, 3, 7, 8] {
        assert_eq!(sessions(&place, limit).await, all, "{limit}");
    }
}

/// One session with a name that cannot be read does not hide the others.
#[tokio::test]
async fn a_name_that_is_not_text_is_shown_as_far_as_possible() {
    let place = Place::new().await;
    let broken = place.stored(read("x").session("s0")).await.id();
    let _ = place.stored(read("x").session("s1")).await;
    let sql = "UPDATE instance SET session = CAST(x'7330ff' AS TEXT) WHERE id = ?1";
    assert_eq!(place.unprotected().execute(sql, [blob(broken)]).unwrap(), 1);
    let found = sessions(&place, 10).await;
    assert_eq!(names(&found), ["s1", "s0\u{fffd}"]);
    assert_eq!(found[1].machines, 1);
}

#[test]
fn what_is_not_a_cursor_is_refused() {
    for text in [
        "",
        "x",
        "-1",
        "1",
        ".",
        "1.",
        ".1",
        "+1.1",
        "1.01",
        " 1.2",
        "1.2.3",
        "99999999999999999999.1",
    ] {
        let refused: InvalidCursor = text.parse::<SessionCursor>().unwrap_err();
        assert!(refused.to_string().contains("is not a cursor"), "{refused}");
    }
}
