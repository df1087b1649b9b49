//! The pages of lists, and their cursors.

use std::time::Duration;

use machine::{
    Id,
    clock::Millis,
    store::{Cursor, Line, LoadError, Query},
};
use machine_tests::{
    assert_err,
    samples::{AnyTicket, Ticket},
};

use crate::store::{
    filled::{AnyEgg, Filled},
    support::{Place, on_both},
};

on_both! {
    every_page_size_gives_the_same_list,
    a_page_says_whether_there_is_another,
    a_cursor_stays_valid_while_machines_come_and_change,
    newest_first_is_the_reverse,
    newest_first_pages_stay_valid_while_machines_come_and_change,
    a_cursor_that_was_made_up_is_a_place_like_any_other,
    a_cursor_of_another_order_is_refused,
    most_overdue_comes_first,
}

/// From 0, which means 1, to more than there is, for several queries.
async fn every_page_size_gives_the_same_list(place: Place) {
    let filled = Filled::new(place).await;
    filled.at(5000);
    let gate = filled.gate;
    for query in [
        Query::new(),
        Query::new().machine("execution"),
        Query::new().status("waiting"),
        Query::new().session("s1").machine("execution"),
        Query::new().behind(gate),
        Query::new().newest_first(),
        Query::new().newest_first().machine("execution").status("pending"),
        Query::new().newest_first().session("s1"),
        Query::new().newest_first().due(),
        Query::new().due(),
        Query::new().due().machine("egg").status("boiling"),
        Query::new().unchanged_for(Duration::ZERO),
    ] {
        let all = filled.place.store.list(&query.clone().limit(usize::MAX)).await.unwrap();
        assert!(all.next.is_none() && !all.items.is_empty(), "{query:?}");
        let all: Vec<_> = all.items.into_iter().map(Result::unwrap).collect();
        for size in (0..=all.len() + 1).chain([Query::DEFAULT_LIMIT, usize::MAX - 1]) {
            let mut query = query.clone().limit(size);
            let mut listed = Vec::new();
            for _ in 0..=all.len() {
                let page = filled.place.store.list(&query).await.unwrap();
                assert!(page.items.len() <= size.max(1));
                listed.extend(page.items.into_iter().map(Result::unwrap));
                let Some(next) = page.next else { break };
                // A cursor may have been text in between.
                query = query.after(next.to_string().parse().unwrap());
            }
            assert_eq!(listed, all, "{size} at a time: {query:?}");
        }
    }
}

async fn a_page_says_whether_there_is_another(place: Place) {
    for _ in 0..150 {
        place.store.create(&mut Ticket::new()).await.unwrap();
    }
    let first = place.store.list(&Query::new()).await.unwrap();
    assert_eq!((first.items.len(), first.next.is_some()), (Query::DEFAULT_LIMIT, true));
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

/// Machines that are created between two pages come last, and none is listed twice or left out.
async fn a_cursor_stays_valid_while_machines_come_and_change(place: Place) {
    let mut ids = Vec::new();
    for _ in 0..10 {
        let mut ticket = Ticket::new();
        place.store.create(&mut ticket).await.unwrap();
        ids.push(ticket.id());
    }
    let mut query = Query::new().limit(3);
    let mut listed = Vec::new();
    for round in 0..20 {
        let page = place.store.list(&query).await.unwrap();
        listed.extend(page.items.into_iter().map(|line| line.unwrap().id));
        let AnyTicket::Open(open) = place.store.load(ids[round]).await.unwrap() else { panic!() };
        place.store.commit(&mut open.park()).await.unwrap();
        if round < 3 {
            let mut ticket = Ticket::new();
            place.store.create(&mut ticket).await.unwrap();
            ids.push(ticket.id());
        }
        let Some(next) = page.next else { break };
        query = query.after(next);
    }
    assert_eq!(listed, ids);
}

async fn newest_first_is_the_reverse(place: Place) {
    let filled = Filled::new(place).await;
    filled.at(5000);
    let gate = filled.gate;
    for query in [
        Query::new(),
        Query::new().machine("execution"),
        Query::new().status("waiting"),
        Query::new().session("s1").machine("execution"),
        Query::new().behind(gate),
        Query::new().unchanged_for(Duration::ZERO),
    ] {
        let mut lines = filled.place.lines(&query).await;
        assert!(!lines.is_empty(), "{query:?}");
        lines.reverse();
        assert_eq!(filled.place.lines(&query.clone().newest_first()).await, lines, "{query:?}");
    }
    // Due machines have a separate order.
    let due = filled.place.lines(&Query::new().due()).await;
    assert_eq!(filled.place.lines(&Query::new().due().newest_first()).await, due);
}

/// Machines that are created between two pages are on neither, and those that change stay where they are.
async fn newest_first_pages_stay_valid_while_machines_come_and_change(place: Place) {
    let mut ids = Vec::new();
    for _ in 0..10 {
        let mut ticket = Ticket::new();
        place.store.create(&mut ticket).await.unwrap();
        ids.push(ticket.id());
    }
    ids.reverse();
    let mut query = Query::new().newest_first().limit(3);
    let mut listed = Vec::new();
    for id in &ids {
        let page = place.store.list(&query).await.unwrap();
        listed.extend(page.items.into_iter().map(|line| line.unwrap().id));
        let AnyTicket::Open(open) = place.store.load(*id).await.unwrap() else { panic!() };
        place.store.commit(&mut open.park()).await.unwrap();
        place.store.create(&mut Ticket::new()).await.unwrap();
        let Some(next) = page.next else { break };
        query = query.after(next);
    }
    assert_eq!(listed, ids);
}

/// A cursor is not a secret: whatever is written into one is a place in the list.
async fn a_cursor_that_was_made_up_is_a_place_like_any_other(place: Place) {
    let filled = Filled::new(place).await;
    filled.at(5000);
    let all: Vec<_> = filled.all().await.into_iter().map(|line| line.id).collect();
    let list = async |query: Query| -> Vec<Id> {
        let page = filled.place.store.list(&query.limit(usize::MAX)).await.unwrap();
        page.items.into_iter().map(|line| line.unwrap().id).collect()
    };
    let due = list(Query::new().due()).await;
    for due_at in [Millis::MIN, -1, 0, 1, filled.start + 1000, filled.start + 1001, Millis::MAX] {
        for number in [0, 1, 5, 6, 7, 30, 31, 32, i64::MAX as u64, i64::MAX as u64 + 1, u64::MAX] {
            let cursor: Cursor = format!("oldest.{number}").parse().unwrap();
            let skipped = usize::try_from(number).unwrap().min(all.len());
            assert_eq!(list(Query::new().after(cursor)).await, all[skipped..], "{cursor}");
            let cursor: Cursor = format!("newest.{number}").parse().unwrap();
            let mut expected = all[..skipped.saturating_sub(1)].to_vec();
            expected.reverse();
            if skipped < usize::try_from(number).unwrap() {
                expected.insert(0, all[skipped - 1]);
            }
            assert_eq!(list(Query::new().newest_first().after(cursor)).await, expected, "{cursor}");
            let cursor: Cursor = format!("due.{due_at}.{number}").parse().unwrap();
            let expected: Vec<_> = filled
                .place
                .lines(&Query::new().due())
                .await
                .into_iter()
                .filter(|line| {
                    let at = all.iter().position(|id| *id == line.id).unwrap() as u64 + 1;
                    (line.due_at.unwrap(), at) > (due_at, number)
                })
                .map(|line| line.id)
                .collect();
            assert_eq!(list(Query::new().due().after(cursor)).await, expected, "{cursor}");
        }
    }
    assert_eq!(due.len(), 8);
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

#[test]
fn what_is_not_a_cursor_is_refused() {
    for text in [
        "",
        ".",
        "1",
        "1.2",
        "oldest",
        "oldest.",
        ".1",
        "oldest.x",
        "Oldest.1",
        "oldest.1.2",
        "oldest.-2",
        "oldest.+2",
        "oldest.02",
        " oldest.2",
        "oldest.2 ",
        "oldest.２",
        "newest.99999999999999999999",
        "due.1",
        "due.+1.1",
        "due.99999999999999999999.1",
        "due.1.99999999999999999999",
    ] {
        let refused = text.parse::<Cursor>().unwrap_err().to_string();
        assert!(refused.contains("is not a cursor"), "{refused}");
    }
    let long = "9".repeat(1000).parse::<Cursor>().unwrap_err().to_string();
    assert!(long.len() < 200, "{long}");
}

async fn most_overdue_comes_first(place: Place) {
    let filled = Filled::new(place).await;
    filled.at(1299);
    let times = |lines: &[Line]| {
        lines.iter().map(|line| line.due_at.unwrap() - filled.start).collect::<Vec<_>>()
    };
    let due = filled.place.lines(&Query::new().due()).await;
    assert_eq!(times(&due), [1000, 1000, 1100, 1100, 1200, 1200]);
    // Fired deadlines are gone, also from the middle of the pages.
    let first = filled.place.store.list(&Query::new().due().limit(3)).await.unwrap();
    let egg: AnyEgg = filled.place.store.load(due[4].id).await.unwrap();
    let mut burst = egg.fire_deadline("burst", filled.place.store.now()).unwrap();
    filled.place.store.commit(&mut burst).await.unwrap();
    let rest = filled.place.lines(&Query::new().due().after(first.next.unwrap())).await;
    assert_eq!(times(&rest), [1100, 1200]);
}
