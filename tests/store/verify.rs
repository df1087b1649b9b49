//! `verify_all` reads everything and names what is wrong.

use machine::{
    Id,
    journal::Entry,
    machine,
    store::{OpenOptions, Progress, Report, Store},
    stored::{Breach, Context},
};
use machine_tests::actors::tool_node;
use machine_tests::samples::{AnyTicket, Ticket, asked, mail, read};
use serde::{Deserialize, Serialize};

use crate::store::{
    forger::forge,
    support::{Place, edit, on_both},
};

on_both! {
    an_untouched_store_is_clean,
    an_empty_store_is_clean,
    progress_rises_to_the_total,
    rules_are_checked_for_the_kinds_that_the_program_declares,
    commits_in_between_are_no_problem,
}

/// Some machines of several kinds; returns the id of a mail that was sent.
async fn filled(place: &Place) -> Id {
    let done = place.done(mail("ann")).await.id();
    let mut question = asked("Deploy?");
    let mut ticket = Ticket::new().park();
    place.store.batch().create(&mut question).create(&mut ticket).write().await.unwrap();
    for number in 0..5 {
        let mut running = place.stored(read(&format!("{number}.txt"))).await.start(tool_node());
        place.store.commit(&mut running).await.unwrap();
    }
    let (_running, _permit) = place.begun(mail("bob")).await;
    done
}

async fn verify_all(store: &Store) -> Report {
    store.verify_all(|_| {}).await.unwrap()
}

async fn an_untouched_store_is_clean(place: Place) {
    filled(&place).await;
    let report = verify_all(&place.store).await;
    assert!(report.is_clean(), "{report:?}");
    assert_eq!((report.machines, report.entries), (9, 6 + 3 + 2 + 5 * 2 + 4));
}

async fn an_empty_store_is_clean(place: Place) {
    let mut calls = 0;
    let report = place.store.verify_all(|_| calls += 1).await.unwrap();
    assert_eq!(report, Report::default());
    assert_eq!(calls, 0);
}

async fn progress_rises_to_the_total(place: Place) {
    // More than a page of machines.
    for _ in 0..130 {
        place.store.create(&mut Ticket::new().park()).await.unwrap();
    }
    filled(&place).await;
    let mut told: Vec<Progress> = Vec::new();
    let report = place.store.verify_all(|progress| told.push(progress)).await.unwrap();
    assert!(report.is_clean(), "{report:?}");
    assert!(told.windows(2).all(|pair| pair[0].machines < pair[1].machines));
    assert!(told.windows(2).all(|pair| pair[0].entries < pair[1].entries));
    let last = told.last().unwrap();
    assert_eq!((last.machines, last.entries), (report.machines, report.entries));
    assert!(told.iter().all(|progress| progress.total_entries == report.entries));
}

/// A counter whose program forbids more than some steps.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Limit {
    most: u32,
}

impl Context for Limit {
    type Summary = u32;

    fn fold(&self, steps: &mut u32, _entry: &Entry) -> Result<(), Breach> {
        *steps += 1;
        if *steps > self.most + 1 { Err(Breach::new("too many steps")) } else { Ok(()) }
    }
}

#[machine(durable, context = Limit)]
#[derive(Debug, Serialize, Deserialize)]
enum Counter {
    #[initial]
    #[on(step => Self)]
    Counting,
}

/// A kind that the program has not declared is verified too, but for the rules of its context.
async fn rules_are_checked_for_the_kinds_that_the_program_declares(place: Place) {
    let place = place.another_with(OpenOptions::new().machine::<AnyCounter>()).await;
    let mut counter = Counter::new(Limit { most: 3 }).step().step();
    place.store.create(&mut counter).await.unwrap();
    let report = verify_all(&place.store).await;
    assert!(report.is_clean(), "{report:?}");
    assert_eq!(report.entries, 3);
}

/// Commits while everything is verified are not changes by hand.
async fn commits_in_between_are_no_problem(place: Place) {
    for _ in 0..150 {
        place.store.create(&mut Ticket::new()).await.unwrap();
    }
    let writer = place.open_again().await;
    let ids: Vec<_> = place.lines(&machine::store::Query::new()).await;
    let mut rest = ids.into_iter();
    // After each machine that was verified, one is created and one is changed.
    let mut rounds = 0;
    let report = place
        .store
        .verify_all(|_| {
            rounds += 1;
            if rounds > 100 {
                return;
            }
            let line = rest.next();
            let writer = writer.clone();
            // The callback is synchronous, and the runtime of this thread is busy.
            std::thread::spawn(move || {
                crate::store::support::block_on(async {
                    writer.create(&mut Ticket::new()).await.unwrap();
                    if let Some(line) = line
                        && let Ok(AnyTicket::Open(open)) = writer.load(line.id).await
                    {
                        let mut parked = open.park();
                        writer.commit(&mut parked).await.unwrap();
                    }
                });
            })
            .join()
            .unwrap();
        })
        .await
        .unwrap();
    assert!(report.is_clean(), "{report:#?}");
    assert!(verify_all(&place.store).await.is_clean());
}

/// The report of a full verification after an edit. `forged` recomputes all digests without a key.
async fn found(options: OpenOptions, sql: &str, forged: bool) -> (Id, Report) {
    let place = Place::with(options).await;
    let id = filled(&place).await;
    let kept = tempfile::tempdir().unwrap();
    let original = kept.path().join("original.db");
    let raw = place.unprotected();
    raw.execute("VACUUM INTO ?1", [original.to_str().unwrap()]).unwrap();
    assert!(edit(&raw, sql, id) > 0, "{sql}");
    if forged {
        let original = rusqlite::Connection::open(original).unwrap();
        assert!(forge(&original, &raw).unwrap(), "{sql}");
    }
    // A new store, which remembers nothing.
    (id, verify_all(&place.open_again().await).await)
}

fn names(report: &Report, id: Id, reason: &str) {
    let mut problems = report.problems.iter();
    let found = problems.any(|problem| problem.id == Some(id) && problem.reason.contains(reason));
    assert!(found, "no `{reason}` of {id} in {report:#?}");
}

#[tokio::test]
async fn a_changed_middle_entry_is_found() {
    let sql = "UPDATE journal SET actor = 'ecs_node' WHERE instance = ?2 AND number = 2";
    let (id, report) = found(OpenOptions::new(), sql, false).await;
    names(&report, id, "entry 2 of its journal was changed");
    assert_eq!(report.problems.len(), 1, "{report:#?}");
    assert_eq!((report.machines, report.entries), (9, 25), "the others are verified too");
}

#[tokio::test]
async fn a_deleted_middle_entry_is_found() {
    let sql = "DELETE FROM journal WHERE instance = ?2 AND number = 2";
    let (id, report) = found(OpenOptions::new(), sql, false).await;
    names(&report, id, "entry 2 of its journal is missing");
    assert!(report.problems.iter().any(|problem| problem.reason.contains("before entry")));

    // Also if the forger closes the gap in the chain.
    let (id, report) = found(OpenOptions::new(), sql, true).await;
    names(&report, id, "entry 2 of its journal is missing");
}

#[tokio::test]
async fn a_changed_summary_is_found() {
    let sql = "UPDATE instance SET summary = json_set(summary, '$.transitions', 7) WHERE no = ?2";
    let (id, report) = found(OpenOptions::new(), sql, false).await;
    names(&report, id, "seal does not match");
    let (id, report) = found(OpenOptions::new(), sql, true).await;
    names(&report, id, "its summary does not match its journal");
    assert_eq!(report.problems.len(), 1, "{report:#?}");
    let (id, report) = found(OpenOptions::new().key([7; 32]), sql, true).await;
    names(&report, id, "seal does not match");
}

#[tokio::test]
async fn a_deleted_attempt_is_found() {
    let sql = "DELETE FROM attempt WHERE instance = ?1";
    let (id, report) = found(OpenOptions::new(), sql, false).await;
    names(&report, id, "its attempt at its key says `Free`, its journal `Applied`");
    // It also leaves a gap before the next attempt.
    assert!(report.problems[1].reason.contains("is missing"), "{report:#?}");
    assert_eq!(report.problems.len(), 2, "{report:#?}");
}

/// Of a kind that the program does not know: its journal is replayed along the stored definition.
#[tokio::test]
async fn an_unknown_kind_of_machine_is_verified_as_data() {
    let place = Place::new().await;
    let mut ticket = Ticket::new().park();
    place.store.create(&mut ticket).await.unwrap();
    let mut counter = Counter::new(Limit { most: 9 }).step();
    place.store.create(&mut counter).await.unwrap();
    let raw = place.unprotected();
    let kept = tempfile::tempdir().unwrap();
    let original = kept.path().join("original.db");
    raw.execute("VACUUM INTO ?1", [original.to_str().unwrap()]).unwrap();
    // Still legal, but not what the row says.
    edit(&raw, "UPDATE instance SET status = 'open' WHERE no = ?2", ticket.id());
    edit(&raw, "UPDATE journal SET edge = 9 WHERE instance = ?2 AND number = 1", counter.id());
    forge(&rusqlite::Connection::open(original).unwrap(), &raw).unwrap();
    let report = verify_all(&place.open_again().await).await;
    names(&report, ticket.id(), "its journal ends in `waiting`");
    names(&report, counter.id(), "unknown transition");
}

/// All problems are reported, not only the first.
#[tokio::test]
async fn several_problems_are_reported() {
    let place = Place::new().await;
    let mut ids = Vec::new();
    for number in 0..4 {
        ids.push(place.stored(read(&format!("{number}.txt"))).await.id());
    }
    let raw = place.unprotected();
    edit(&raw, "UPDATE instance SET status = 'running' WHERE id = ?1", ids[0]);
    edit(&raw, "UPDATE context SET body = '{}' WHERE instance = ?2", ids[1]);
    edit(&raw, "UPDATE journal SET at = 0 WHERE instance = ?2", ids[3]);
    let report = verify_all(&place.store).await;
    let named: Vec<_> = report.problems.iter().map(|problem| problem.id.unwrap()).collect();
    assert_eq!(named, [ids[0], ids[1], ids[3]], "{report:#?}");
}
