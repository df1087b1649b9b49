//! Lists: filters, pages, cursors.

use machine_tests::actors::{reasoning_node, tool_node};
use std::time::Duration;

use machine::{
    Id,
    actor::GraphRunner,
    clock::Millis,
    contract::{AnyExecution, Contract, Execution},
    machine,
    store::{Cursor, Line, LoadError, OpenOptions, Query, Store},
};
use machine_tests::{
    assert_err,
    samples::{AnyTicket, Ticket, asked_in, mail, read},
};
use serde::{Deserialize, Serialize};

use crate::support::{Hand, Place, lines, on_both};

on_both! {
    each_filter_selects_what_it_says,
    filters_narrow_each_other,
    every_page_size_gives_the_same_list,
    a_page_says_whether_there_is_another,
    a_cursor_stays_valid_while_machines_come_and_change,
    a_cursor_that_was_made_up_is_a_place_like_any_other,
    a_cursor_of_another_order_is_refused,
    newest_first_is_the_reverse,
    newest_first_pages_stay_valid_while_machines_come_and_change,
    most_overdue_comes_first,
    load_all_is_load_one_by_one,
    an_unknown_name_selects_nothing,
    json_is_what_load_sees,
}

/// A machine with a deadline.
#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Egg {
    #[initial]
    #[on(boil => Boiling)]
    Raw,
    #[on(burst => Burst, by = GraphRunner, after = Duration::from_millis(1000))]
    Boiling,
    #[terminal]
    Burst,
}

/// A store with machines of several kinds, sessions, keys, gates and deadlines.
struct Filled {
    place: Place,
    clock: Hand,
    start: Millis,
    gate: Id,
}

impl Filled {
    async fn new(place: Place) -> Self {
        let start = machine::clock::now();
        // It starts at the real time, because entries have that.
        let clock = Hand::at(start);
        let place = place.another_with(OpenOptions::new().clock(clock.clone())).await;
        let store = &place.store;
        for number in 0..4_u8 {
            let session = format!("s{}", number % 3);
            let _ = place.stored(mail("bob").session(&session)).await;
            let mut running =
                place.stored(read("a.txt").session(&session)).await.start(tool_node());
            store.commit(&mut running).await.unwrap();
            let question = Contract::ecs_request("Deploy?", reasoning_node()).unwrap();
            store.create(&mut asked_in(question.session(session))).await.unwrap();
            store.create(&mut Ticket::new()).await.unwrap();
            store.create(&mut Ticket::new().park()).await.unwrap();
            // Each deadline is for two machines.
            for _ in 0..2 {
                store.create(&mut Egg::new().boil()).await.unwrap();
            }
            clock.advance(100);
        }
        let gate = place.asked(mail("ann")).await.0.id();
        let _ = place.done(mail("carl")).await;
        Self { place, clock, start, gate }
    }

    fn at(&self, after_start: Millis) {
        self.clock.set(self.start + after_start);
    }

    async fn all(&self) -> Vec<Line> {
        self.place.lines(&Query::new().limit(usize::MAX)).await
    }

    /// Asserts that a query selects what a condition selects of all machines, in order of creation.
    async fn selects(&self, query: Query, is_selected: impl Fn(&Line) -> bool) -> usize {
        let mut expected = self.all().await;
        expected.retain(is_selected);
        assert_eq!(self.place.lines(&query).await, expected, "{query:?}");
        expected.len()
    }
}

async fn each_filter_selects_what_it_says(place: Place) {
    let filled = Filled::new(place).await;
    assert_eq!(filled.all().await.len(), 4 * 7 + 3);
    let key = mail("bob").idempotency_key().unwrap().to_string();
    let (gate, start) = (filled.gate, filled.start);
    let count = [
        filled.selects(Query::new().machine("execution"), |line| line.machine == "execution").await,
        filled.selects(Query::new().machine("egg"), |line| line.machine == "egg").await,
        // Two kinds of machines have a state of this name.
        filled.selects(Query::new().status("waiting"), |line| line.status == "waiting").await,
        filled
            .selects(Query::new().session("s1"), |line| line.session.as_deref() == Some("s1"))
            .await,
        filled.selects(Query::new().key(&key), |line| line.key.as_ref() == Some(&key)).await,
        filled.selects(Query::new().behind(gate), |line| line.behind == Some(gate)).await,
    ];
    assert_eq!(count, [15, 8, 9, 3, 4, 1]);

    // Nothing is old by the real clock; by the store's, everything is after a day.
    let day = Duration::from_hours(24);
    filled.at(0);
    assert_eq!(filled.place.lines(&Query::new().unchanged_for(day)).await, []);
    filled.at(24 * 3_600_000 + 60_000);
    let all = filled.all().await.len();
    assert_eq!(filled.selects(Query::new().unchanged_for(day), |_| true).await, all);
    assert_eq!(filled.place.lines(&Query::new().unchanged_for(Duration::MAX)).await, []);
    let due = filled.place.lines(&Query::new().due()).await;
    assert_eq!(due.len(), 8);
    filled.at(1000);
    let due = filled.place.lines(&Query::new().due()).await;
    assert!(due.len() == 2 && due.iter().all(|line| line.due_at == Some(start + 1000)), "{due:?}");
}

/// A filter, and what it selects at a time.
type Filter = (fn(Query) -> Query, fn(&Line, Millis) -> bool);

/// Every pair of filters selects what both select.
async fn filters_narrow_each_other(place: Place) {
    let filled = Filled::new(place).await;
    filled.at(2000);
    let key = mail("bob").idempotency_key().unwrap().to_string();
    let filters: [Filter; 5] = [
        (|query| query.machine("execution"), |line, _| line.machine == "execution"),
        (|query| query.machine("egg"), |line, _| line.machine == "egg"),
        (|query| query.status("waiting"), |line, _| line.status == "waiting"),
        (|query| query.session("s0"), |line, _| line.session.as_deref() == Some("s0")),
        (|query| query.due(), |line, now| line.due_at.is_some_and(|at| at <= now)),
    ];
    let now = filled.place.store.now();
    for (at, (narrow, first)) in filters.iter().enumerate() {
        for (also, second) in &filters[at..] {
            // A later filter of the same kind replaces the first one.
            if std::ptr::fn_addr_eq(*narrow, filters[0].0)
                && std::ptr::fn_addr_eq(*also, filters[1].0)
            {
                continue;
            }
            let query = also(narrow(Query::new()));
            filled.selects(query.clone(), |line| first(line, now) && second(line, now)).await;
            let query = query.key(&key);
            let is_of_key = |line: &Line| line.key.as_ref() == Some(&key);
            filled
                .selects(query, |line| is_of_key(line) && first(line, now) && second(line, now))
                .await;
        }
    }
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
    // What is due has an order of its own.
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

/// A cursor is not a secret: whatever somebody writes into one is a place in the list.
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
    // What fired is gone, also from the middle of the pages.
    let first = filled.place.store.list(&Query::new().due().limit(3)).await.unwrap();
    let egg: AnyEgg = filled.place.store.load(due[4].id).await.unwrap();
    let mut burst = egg.fire_deadline("burst", filled.place.store.now()).unwrap();
    filled.place.store.commit(&mut burst).await.unwrap();
    let rest = filled.place.lines(&Query::new().due().after(first.next.unwrap())).await;
    assert_eq!(times(&rest), [1100, 1200]);
}

/// What `load_all` returns is what `load` returns for each.
async fn load_all_is_load_one_by_one(place: Place) {
    let filled = Filled::new(place).await;
    for query in [
        Query::new(),
        Query::new().session("s1"),
        Query::new().status("waiting"),
        // Another kind, which `load_all` replaces by its own.
        Query::new().machine("ticket"),
    ] {
        let query = query.limit(4);
        let of_kind = query.clone().machine("execution");
        let (mut query, mut of_kind) = (query, of_kind);
        let mut count = 0;
        loop {
            let listed = filled.place.store.list(&of_kind).await.unwrap();
            let loaded = filled.place.store.load_all::<AnyExecution>(&query).await.unwrap();
            assert_eq!(loaded.next, listed.next);
            assert_eq!(loaded.items.len(), listed.items.len());
            for (line, loaded) in listed.items.into_iter().zip(loaded.items) {
                let one: AnyExecution = filled.place.store.load(line.unwrap().id).await.unwrap();
                let loaded = loaded.unwrap();
                assert_eq!(format!("{loaded:?}"), format!("{one:?}"));
                assert_eq!(loaded.journal().summary(), one.journal().summary());
                assert_eq!(loaded.journal().version(), one.journal().version());
                count += 1;
            }
            let Some(next) = loaded.next else { break };
            (query, of_kind) = (query.after(next), of_kind.after(next));
        }
        assert!(count > 0, "{query:?}");
    }
}

async fn an_unknown_name_selects_nothing(place: Place) {
    let filled = Filled::new(place).await;
    for query in [
        Query::new().machine("nobody"),
        Query::new().machine(""),
        Query::new().status("%"),
        Query::new().session("'; DROP TABLE instance; --"),
        Query::new().key("\0"),
        Query::new().behind(Execution::new(mail("x")).id()),
    ] {
        assert_eq!(filled.place.lines(&query).await, [], "{query:?}");
    }
    assert!(!filled.all().await.is_empty());
}

async fn json_is_what_load_sees(place: Place) {
    let done = place.done(mail("bob").session("s1")).await;
    let json = place.store.json(done.id()).await.unwrap();
    let line = &place.lines(&Query::new()).await[0];
    assert_eq!(json["id"], line.id.to_string());
    assert_eq!(json["machine"], "execution");
    assert_eq!(json["status"], "completed");
    assert_eq!(json["version"], line.version);
    assert_eq!(json["session"], "s1");
    assert_eq!(json["created_at"], line.created_at);
    assert_eq!(json["updated_at"], line.updated_at);
    assert_eq!(json["state"], serde_json::to_value(done.state()).unwrap());
    assert_eq!(json["context"], serde_json::to_value(done.context()).unwrap());
    let nobody = Execution::new(mail("x")).id();
    assert_err!(place.store.json(nobody).await, LoadError::NotFound { id } if *id == nobody);
}

/// A row that cannot be read is an error in its place, whatever the query and the size of its pages,
/// and the pages end.
#[tokio::test]
async fn a_broken_row_is_named_in_its_place() {
    let filled = Filled::new(Place::new().await).await;
    filled.at(5000);
    let due = filled.place.lines(&Query::new().due()).await;
    let broken = due[3].id;
    assert_eq!(filled.place.edit("UPDATE instance SET epoch = -1 WHERE id = ?1", broken), 1);
    for query in [Query::new(), Query::new().machine("egg"), Query::new().due()] {
        let everything = query.clone().limit(usize::MAX);
        let mut expected = filled.place.store.list(&everything).await.unwrap().items;
        let place = expected.iter().position(Result::is_err).unwrap();
        let error = expected.remove(place).unwrap_err();
        assert!(error.to_string().contains(&broken.to_string()), "{error}");
        assert!(error.to_string().contains("`epoch`"), "{error}");
        let count = expected.len() + 1;
        for size in 0..=count {
            let mut query = query.clone().limit(size);
            let mut listed = Vec::new();
            loop {
                let page = filled.place.store.list(&query).await.unwrap();
                listed.extend(page.items);
                assert!(listed.len() <= count, "{size} at a time: {query:?} does not end");
                let Some(next) = page.next else { break };
                query = query.after(next);
            }
            assert_eq!(listed.len(), count, "{size} at a time: {query:?}");
            assert_eq!(listed.iter().position(Result::is_err), Some(place), "{query:?}");
        }
        let loaded = filled.place.store.load_all::<AnyEgg>(&query).await.unwrap();
        assert_eq!(loaded.items.iter().filter(|egg| egg.is_err()).count(), 1);
        assert_eq!(loaded.items.len(), 8);
    }
}

/// Two stores on one file list the same.
#[tokio::test]
async fn another_store_on_the_file_lists_the_same() {
    let filled = Filled::new(Place::new().await).await;
    let other: Store = filled.place.open_again().await;
    assert_eq!(lines(&other, &Query::new().limit(7)).await, filled.all().await);
}
