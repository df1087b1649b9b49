//! The pages of lists, and their cursors. The storage's part of them is a promise of every backend.

use machine::store::{Cursor, LoadError, Position, Query, SessionCursor};
use machine_tests::{
    assert_err,
    samples::{AnyTicket, Ticket},
};

use crate::store::{
    filled::Filled,
    support::{Place, on_file},
};

on_file! {
    a_page_says_whether_there_is_another,
    a_cursor_of_another_order_is_refused,
}

async fn a_page_says_whether_there_is_another(place: Place) {
    for _ in 0..150 {
        place.store.create(&mut Ticket::new()).await.unwrap();
    }
    let first = place.store.list(&Query::new()).await.unwrap();
    assert_eq!((first.items.len(), first.next.is_some()), (100, true));
    let second = place.store.list(&Query::new().after(first.next.unwrap())).await.unwrap();
    assert_eq!((second.items.len(), second.next), (50, None));
    // The last page is full.
    let exact = place.store.list(&Query::new().limit(150)).await.unwrap();
    assert_eq!((exact.items.len(), exact.next), (150, None));
    // A page has at least one, so that pages always end.
    let smallest = place.store.list(&Query::new().limit(0)).await.unwrap();
    let one = place.store.list(&Query::new().limit(1)).await.unwrap();
    assert_eq!((smallest.items.len(), smallest.next), (1, one.next));
    let everything = place.store.list(&Query::new().limit(usize::MAX)).await.unwrap();
    assert_eq!((everything.items.len(), everything.next), (150, None));
    let loaded = place.store.load_all::<AnyTicket>(&Query::new().limit(0)).await.unwrap();
    assert_eq!((loaded.items.len(), loaded.next), (1, one.next));
    let loaded = place.store.load_all::<AnyTicket>(&Query::new().limit(usize::MAX)).await.unwrap();
    assert_eq!((loaded.items.len(), loaded.next), (150, None));
}

/// The place would mean something else.
async fn a_cursor_of_another_order_is_refused(place: Place) {
    let filled = Filled::new(place).await;
    let orders = [Query::new(), Query::new().newest_first(), Query::new().due()];
    for (n, text) in ["oldest.1", "newest.1", "due.5.1"].into_iter().enumerate() {
        let cursor: Cursor = text.parse().unwrap();
        for (m, query) in orders.iter().enumerate() {
            let found = filled.place.store.list(&query.clone().after(cursor)).await;
            if n == m {
                found.unwrap();
            } else {
                assert_err!(found, LoadError::OtherOrder { cursor: it } if *it == cursor);
            }
        }
    }
}

/// Texts that are no cursor of a list, of a list of sessions, or no position.
#[test]
fn what_is_no_cursor_is_refused() {
    let refused = |text: &str| {
        [
            text.parse::<Cursor>().map(drop).map_err(|error| error.to_string()),
            text.parse::<SessionCursor>().map(drop).map_err(|error| error.to_string()),
            text.parse::<Position>().map(drop).map_err(|error| error.to_string()),
        ]
    };
    let texts = [
        "", ".", "x", "1", "-1", "1.", ".1", "1.x", "1.-1", "-1.1", "+1.2", "1.02", " 1.2",
        "1.2.3", "oldest", "oldest.", "oldest.x", "Oldest.1", "due.1",
    ];
    let more = [
        "oldest.1.2",
        "oldest.-2",
        "oldest.+2",
        "oldest.02",
        " oldest.2",
        "oldest.2 ",
        "oldest.２",
        "due.+1.1",
        "1.99999999999999999999",
        "99999999999999999999.1",
        "newest.99999999999999999999",
        "due.99999999999999999999.1",
        "due.1.99999999999999999999",
        &"9".repeat(1000),
    ];
    for text in texts.into_iter().chain(more) {
        let [list, sessions, position] = refused(text).map(|said| said.expect_err(text));
        for said in [list, sessions] {
            assert!(said.contains("is not a cursor") && said.len() < 200, "{said}");
        }
        assert!(position.contains("is not a position"), "{position}");
    }
    // Both of these.
    let [list, sessions, position] = refused("1.2");
    assert!(list.is_err() && sessions.is_ok() && position.is_ok());
}
