//! A kind that workers drive lists all of its live machines as ready: those from before, and those
//! that come later.

use super::prelude::*;

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    let [mut old, mut ended, mut together, mut later, mut stillborn] =
        [(); 5].map(|()| Machine::job());
    let mut other = Machine::execution();
    store.creates([&mut old, &mut ended, &mut other]).await?;
    store.accepts(ended.end()).await?;
    store.apply_event(old.id(), send("early")).await?;
    are_driven(&store, &[], &[&old, &ended, &other]).await?;

    // One that comes in the same batch is not missed, nor counted twice.
    let drives = owned(&["job", "job"]);
    store.accepts(WriteBatch { drives, ..batch([together.create()]) }).await?;
    are_driven(&store, &[(&old, 1), (&together, 0)], &[&ended, &other]).await?;

    store.accepts(later.create()).await?;
    let mut ends = stillborn.create();
    ends.row.ended = true;
    store.accepts(ends).await?;
    let driven = [(&old, 1), (&together, 0), (&later, 0)];
    are_driven(&store, &driven, &[&ended, &other, &stillborn]).await?;

    // Driven again, by another process: what is known stays.
    store.parks(old.id(), Some(Wake::by_clock(NOW + 7))).await?;
    store.unchanged(store.drives(&["job", "job"])).await?;

    store.drives(&["execution"]).await?;
    ensure!(ids(&store, "execution").await? == [other.id()], "another kind is not found");
    store.accepts(later.end()).await?;
    ensure!(store.work(later.id()).await?.is_none(), "one that has ended is driven");
    let found = ids(&store, "job").await?;
    ensure!(!found.contains(&later.id()), "one that has ended is ready");
    Ok(())
}

/// These are ready, and new, with these numbers of queued messages; the others are not.
async fn are_driven(store: &Subject, driven: &[(&Machine, u32)], others: &[&Machine]) -> Kept {
    let mut expected: Vec<_> = driven.iter().map(|(machine, _)| machine.id()).collect();
    expected.sort();
    same!(ids(store, "job").await?, expected, "the ready machines");
    for &(machine, queued) in driven {
        // It keeps what was sent before.
        let new = Schedule { wake: Some(Wake::ready(NOW)), queued, ..Schedule::default() };
        same!(store.work(machine.id()).await?, Some(new), "the work of a new machine");
    }
    for machine in others {
        let work = store.work(machine.id()).await?;
        ensure!(work.is_none(), "{} that has no worker has {work:#?}", machine.row.machine);
    }
    Ok(())
}

async fn ids(store: &Subject, kind: &str) -> Kept<Vec<Id>> {
    let ready = store.ready(&[kind], usize::MAX, NOW).await?;
    let mut ids: Vec<_> = ready.into_iter().map(|it| it.id).collect();
    ids.sort();
    Ok(ids)
}
