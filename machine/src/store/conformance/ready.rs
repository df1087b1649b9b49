//! The ready machines of a kind are listed, longest waiting first, and no others.

use super::{
    Open, ensure,
    event::{NOW, claim},
    sample::Machine,
    subject::Subject,
};
use crate::store::{backend::ReadyMachine, inbox::protocol::Attempted};

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    store.drives(&["job", "execution"]).await?;
    // Each becomes due this long after now; the others have nothing to do.
    let mut jobs = Vec::new();
    for after in [Some(30), None, Some(-10), Some(20), Some(0), None, Some(10)] {
        let mut job = Machine::job();
        store.accepts(job.create()).await?;
        let wake_at = after.map(|after| NOW + after);
        store.parks(job.id(), wake_at).await?;
        jobs.extend(wake_at.map(|at| ReadyMachine {
            id: job.id(),
            token: 1,
            revision: 0,
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
        store.apply_event(id, claim(worker, 1, NOW, Attempted::Recheck)).await?;
        jobs[0] = ReadyMachine {
            id,
            token: 2,
            revision: 0,
            at: NOW + 1000,
            worker: Some(worker.to_owned()),
            attempts: 0,
        };
        // The next one that is ready comes first now.
        jobs.sort_by_key(|job| job.at);
    }
    let mut lease_holders = store.0.lease_holders().await?;
    lease_holders.sort();
    ensure!(lease_holders == ["a", "b"], "{lease_holders:?} have leases");

    let mut other = Machine::execution();
    store.accepts(other.create()).await?;
    let other = [ReadyMachine {
        id: other.id(),
        token: 0,
        revision: 0,
        at: NOW,
        worker: None,
        attempts: 0,
    }];
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

/// Compares the ready machines; machines with the same moment may come in any order.
async fn agrees(
    store: &Subject,
    kinds: &[&str],
    limit: usize,
    expected: &[ReadyMachine],
) -> Result<(), String> {
    let (mut found, mut expected) = (store.ready(kinds, limit).await?, expected.to_vec());
    let is_ordered = found.windows(2).all(|pair| pair[0].at <= pair[1].at);
    ensure!(kinds.len() > 1 || is_ordered, "{found:#?} are not in order");
    for ready in [&mut found, &mut expected] {
        ready.sort_by_key(|it| (it.at, it.id));
    }
    ensure!(found == expected, "{kinds:?} to {limit}: {found:#?}\nand not {expected:#?}");
    Ok(())
}
