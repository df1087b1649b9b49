//! The agenda has the machines of a kind, those first that wait longest, and no others.

use super::{
    Open, ensure,
    event::{NOW, claim},
    sample::{Machine, batch, commit},
    subject::{Subject, text},
};
use crate::store::{
    backend::{Agenda, Batch},
    inbox::protocol::On,
};

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    let drives = vec!["job".to_owned(), "execution".to_owned()];
    store.accepts(Batch { drives, ..commit(vec![], vec![]) }).await?;
    // Each is to be looked at this long after now; nothing is to be done for the others.
    let mut jobs = Vec::new();
    for after in [Some(30), None, Some(-10), Some(20), Some(0), None, Some(10)] {
        let mut job = Machine::job();
        let created = job.create();
        store.accepts(batch([(&job, created)])).await?;
        let wake_at = after.map(|after| NOW + after);
        store.parks(job.id(), wake_at).await?;
        jobs.extend(wake_at.map(|at| Agenda {
            id: job.id(),
            token: 1,
            news: 0,
            at,
            worker: None,
            attempts: 0,
        }));
    }
    jobs.sort_by_key(|job| job.at);
    agrees(&store, &["job"], usize::MAX, &jobs).await?;

    // One with a lease is there too: until it ends, no other worker has to look.
    for worker in ["a", "b"] {
        let id = jobs[0].id;
        store.happens(id, claim(worker, 1, NOW, On::Look)).await?;
        jobs[0] = Agenda {
            id,
            token: 2,
            news: 0,
            at: NOW + 1000,
            worker: Some(worker.to_owned()),
            attempts: 0,
        };
        // The next one that is ready comes first now.
        jobs.sort_by_key(|job| job.at);
    }
    let mut holders = store.0.holders().await.map_err(text)?;
    holders.sort();
    ensure!(holders == ["a", "b"], "{holders:?} have leases");

    let mut other = Machine::execution();
    let created = other.create();
    store.accepts(batch([(&other, created)])).await?;
    let other = [Agenda { id: other.id(), token: 0, news: 0, at: NOW, worker: None, attempts: 0 }];
    for limit in [0, 1, 3, jobs.len(), usize::MAX] {
        let some = &jobs[..limit.min(jobs.len())];
        agrees(&store, &["job"], limit, some).await?;
        let both = [some, &other[..limit.min(1)]].concat();
        agrees(&store, &["job", "execution"], limit, &both).await?;
        agrees(&store, &["unknown", "Job", ""], limit, &[]).await?;
        agrees(&store, &[], limit, &[]).await?;
    }
    Ok(())
}

/// Compares the agenda; machines with the same moment may come in any order.
async fn agrees(
    store: &Subject,
    kinds: &[&str],
    limit: usize,
    expected: &[Agenda],
) -> Result<(), String> {
    let (mut found, mut expected) = (store.agenda(kinds, limit).await?, expected.to_vec());
    let is_ordered = found.windows(2).all(|pair| pair[0].at <= pair[1].at);
    ensure!(kinds.len() > 1 || is_ordered, "{found:#?} are not in order");
    for agenda in [&mut found, &mut expected] {
        agenda.sort_by_key(|it| (it.at, it.id));
    }
    ensure!(found == expected, "{kinds:?} to {limit}: {found:#?}\nand not {expected:#?}");
    Ok(())
}
