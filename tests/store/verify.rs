//! `verify_all` reads everything and names what is wrong.

use machine::store::{Query, VerifyProgress, VerifyReport};
use machine_tests::{
    actors::tool_node,
    samples::{AnyTicket, Ticket, asked, mail, read},
};

use crate::store::support::{Place, block_on, edit, on_file};

on_file! {
    an_empty_store_is_clean,
    progress_rises_to_the_total,
    commits_in_between_are_no_problem,
}

/// Some machines of several kinds.
async fn filled(place: &Place) {
    let _ = place.done(mail("ann")).await;
    let _ = place.created(asked("Deploy?")).await;
    let _ = place.created(Ticket::new().park()).await;
    for number in 0..5 {
        let pending = place.stored(read(&format!("{number}.txt"))).await;
        let _ = place.committed(pending.start(tool_node())).await;
    }
    let (_running, _permit) = place.begun(mail("bob")).await;
}

async fn an_empty_store_is_clean(place: Place) {
    let mut calls = 0;
    let report = place.store.verify_all(|_| calls += 1).await.unwrap();
    assert_eq!(report, VerifyReport::default());
    assert_eq!(calls, 0);
}

async fn progress_rises_to_the_total(place: Place) {
    // More than a page of machines.
    for _ in 0..130 {
        let _ = place.created(Ticket::new().park()).await;
    }
    filled(&place).await;
    let mut told: Vec<VerifyProgress> = Vec::new();
    let report = place.store.verify_all(|progress| told.push(progress)).await.unwrap();
    assert!(report.is_clean(), "{report:?}");
    let entries = 130 * 2 + 6 + 3 + 2 + 5 * 2 + 4;
    assert_eq!((report.machines, report.entries), (130 + 9, entries));
    assert!(told.windows(2).all(|pair| pair[0].machines < pair[1].machines));
    assert!(told.windows(2).all(|pair| pair[0].entries < pair[1].entries));
    let last = told.last().unwrap();
    assert_eq!((last.machines, last.entries), (report.machines, report.entries));
    assert!(told.iter().all(|progress| progress.total_entries == report.entries));
}

/// Commits while everything is verified are not changes by hand.
async fn commits_in_between_are_no_problem(place: Place) {
    for _ in 0..150 {
        let _ = place.created(Ticket::new()).await;
    }
    let writer = place.open_again().await;
    let ids: Vec<_> = place.lines(&Query::new()).await;
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
                block_on(async {
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
    place.assert_intact().await;
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
    let report = place.store.verify_all(|_| {}).await.unwrap();
    let named: Vec<_> = report.problems.iter().map(|problem| problem.id.unwrap()).collect();
    assert_eq!(named, [ids[0], ids[1], ids[3]], "{report:#?}");
}
