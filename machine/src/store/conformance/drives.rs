//! A kind that workers drive has all of its live machines on the agenda: those from before, and those
//! that come later.

use super::{
    Open, ensure,
    event::{NOW, send},
    sample::{Machine, batch, commit},
    subject::Subject,
};
use crate::{
    id::Id,
    store::{backend::Batch, inbox::protocol::Work},
};

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    let [mut old, mut ended, mut other, mut together, mut later, mut stillborn] =
        ["job", "job", "execution", "job", "job", "job"]
            .map(|kind| if kind == "job" { Machine::job() } else { Machine::execution() });
    for machine in [&mut old, &mut ended, &mut other] {
        let created = machine.create();
        store.accepts(batch([(&*machine, created)])).await?;
    }
    let write = ended.end();
    store.accepts(batch([(&ended, write)])).await?;
    store.happens(old.id(), send("early")).await?;
    are_driven(&store, &[], &[&old, &ended, &other]).await?;

    // One that comes in the same batch is not missed, nor counted twice.
    let created = together.create();
    let drives = || vec!["job".to_owned(), "job".to_owned()];
    store.accepts(Batch { drives: drives(), ..batch([(&together, created)]) }).await?;
    are_driven(&store, &[&old, &together], &[&ended, &other]).await?;

    let (created, ends) = (later.create(), stillborn.create());
    store.accepts(batch([(&later, created)])).await?;
    let mut ends = batch([(&stillborn, ends)]);
    ends.writes[0].row.ended = true;
    store.accepts(ends).await?;
    are_driven(&store, &[&old, &together, &later], &[&ended, &other, &stillborn]).await?;

    // Driven again, by another process: what is known stays.
    store.parks(old.id(), Some(NOW + 7)).await?;
    let before = store.snapshot().await?;
    store.accepts(Batch { drives: drives(), ..commit(vec![], vec![]) }).await?;
    let after = store.snapshot().await?;
    ensure!(before == after, "driven again\nfrom {before}\nto {after}");

    let drives = vec!["execution".to_owned()];
    store.accepts(Batch { drives, ..commit(vec![], vec![]) }).await?;
    ensure!(ids(&store, "execution").await? == [other.id()], "another kind is not found");
    let write = later.end();
    store.accepts(batch([(&later, write)])).await?;
    ensure!(store.work(later.id()).await?.is_none(), "one that has ended is driven");
    let found = ids(&store, "job").await?;
    ensure!(!found.contains(&later.id()), "one that has ended is on the agenda");
    Ok(())
}

/// These are on the agenda, and new; the others are not.
async fn are_driven(
    store: &Subject,
    driven: &[&Machine],
    others: &[&Machine],
) -> Result<(), String> {
    let mut found = ids(store, "job").await?;
    found.sort();
    let mut expected: Vec<_> = driven.iter().map(|machine| machine.id()).collect();
    expected.sort();
    ensure!(found == expected, "the agenda has {found:?}, not {expected:?}");
    for machine in driven {
        let work = store.has_work(machine.id()).await?;
        let new = Work { wake_at: Some(NOW), ..Work::default() };
        ensure!(work == new, "a machine begins with {work:#?}");
    }
    for machine in others {
        let work = store.work(machine.id()).await?;
        ensure!(work.is_none(), "{} that nobody drives has {work:#?}", machine.row.machine);
    }
    Ok(())
}

async fn ids(store: &Subject, kind: &str) -> Result<Vec<Id>, String> {
    let agenda = store.agenda(&[kind], usize::MAX).await?;
    Ok(agenda.into_iter().map(|it| it.id).collect())
}
