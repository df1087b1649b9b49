//! The ready machines of a kind are listed, longest waiting first, and no others. After the clock
//! went back, what was ready before is listed all the same.

use super::prelude::*;

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    store.drives(&["job", "execution"]).await?;
    // Each becomes due this long after now; the others have nothing to do.
    let mut jobs = Vec::new();
    for after in [Some(30), None, Some(-10), Some(20), Some(0), None, Some(10)] {
        let wake = after.map(|after| Wake::by_clock(NOW + after));
        let id = waiting(&store, wake).await?;
        jobs.extend(wake.map(|wake| line(id, 1, wake)));
    }
    jobs.sort_by_key(|job| job.wake.at);
    agrees(&store, &["job"], usize::MAX, &jobs).await?;

    // One with a lease is there too: until it ends, no other worker has to look.
    for worker in ["a", "b"] {
        let id = jobs[0].id;
        store.apply_event(id, claim(worker, 1, NOW, Attempted::Recheck)).await?;
        jobs[0] = leased(worker, &line(id, 2, Wake::by_clock(NOW + 1000)));
        // The next one that is ready comes first now.
        jobs.sort_by_key(|job| job.wake.at);
    }
    let mut lease_holders = store.0.lease_holders().await?;
    lease_holders.sort();
    ensure!(lease_holders == ["a", "b"], "{lease_holders:?} have leases");

    let mut other = Machine::execution();
    store.accepts(other.create()).await?;
    let other = [line(other.id(), 0, Wake::ready(NOW))];
    for limit in [0, 1, 3, jobs.len(), usize::MAX] {
        let some = &jobs[..limit.min(jobs.len())];
        agrees(&store, &["job"], limit, some).await?;
        let both = [some, &other[..limit.min(1)]].concat();
        agrees(&store, &["job", "execution"], limit, &both).await?;
        agrees(&store, &["unknown", "Job", ""], limit, &[]).await?;
        agrees(&store, &[], limit, &[]).await?;
    }
    for_another_program(&Subject::open(open)).await?;
    after_the_clock_went_back(&Subject::open(open)).await
}

/// One that waits for another program is ready for it at once, and for all of them when its own
/// time comes.
async fn for_another_program(store: &Subject) -> Kept {
    store.drives(&["job"]).await?;
    let mut job = Machine::job();
    store.accepts(job.create()).await?;
    let (id, timer, others_at) = (job.id(), Wake::by_clock(NOW + 30), Some(NOW - 5));
    let (token, revision) = store.claims(id, Attempted::Recheck).await?;
    let (wake, now) = (Some(timer), NOW);
    let wait = Wait { token, revision, now, wake, others_at, ..Wait::default() };
    store.apply_event(id, Event::Wait(wait)).await?;
    let work = store.has_work(id).await?;
    same!((work.wake, work.others_at), (wake, others_at), "the moments of its work");
    let both = [line(id, token, Wake::ready(NOW - 5)), line(id, token, timer)];
    agrees(store, &["job"], 9, &both).await?;

    let (token, _) = store.claims(id, Attempted::Recheck).await?;
    let held = leased("worker", &line(id, token, Wake::by_clock(NOW + 1000)));
    agrees(store, &["job"], 9, &[held]).await
}

/// What is ready, and a worker's own timer, are due; a deadline is not.
async fn after_the_clock_went_back(store: &Subject) -> Kept {
    store.drives(&["job"]).await?;
    let now = NOW - 1000;
    let timer = Wake { at: NOW + 30, set_at: Some(NOW + 1) };
    let mut jobs = Vec::new();
    for wake in [Wake::ready(NOW), timer, Wake::by_clock(NOW - 20)] {
        jobs.push(line(waiting(store, Some(wake)).await?, 1, wake));
    }
    let by_time = [jobs[2].clone(), jobs[0].clone(), jobs[1].clone()];
    for limit in [0, 1, 2, 9] {
        let found = store.ready(&["job"], limit, now).await?;
        let from_later = &jobs[..limit.min(2)];
        ensure!(found.starts_with(from_later), "to {limit}, earlier: {found:#?}");
        let later = store.ready(&["job"], limit, NOW + 1).await?;
        same!(later, by_time[..limit.min(3)], "to {limit}, later");
    }
    let claim = |job: &ReadyMachine| (job.id, claim("c", 1, now, Attempted::Recheck));
    let (early, event) = claim(&jobs[2]);
    store.refuses(early, event, EventRefusal::NotReady).await?;
    for job in &jobs[..2] {
        let (id, claim) = claim(job);
        store.apply_event(id, claim).await?;
    }
    Ok(())
}

/// A new job that waits for this.
async fn waiting(store: &Subject, wake: Option<Wake>) -> Kept<Id> {
    let mut job = Machine::job();
    store.accepts(job.create()).await?;
    store.parks(job.id(), wake).await?;
    Ok(job.id())
}

/// A machine without a lease.
fn line(id: Id, token: u64, wake: Wake) -> ReadyMachine {
    ReadyMachine { id, token, revision: 0, wake, worker: None, attempts: 0 }
}

fn leased(worker: &str, line: &ReadyMachine) -> ReadyMachine {
    ReadyMachine { worker: Some(worker.to_owned()), ..*line }
}

/// Compares the ready machines; machines with the same moment may come in any order.
async fn agrees(store: &Subject, kinds: &[&str], limit: usize, expected: &[ReadyMachine]) -> Kept {
    let mut found = store.ready(kinds, limit, NOW).await?;
    let mut expected = expected.to_vec();
    let is_ordered = found.windows(2).all(|pair| pair[0].wake.at <= pair[1].wake.at);
    ensure!(kinds.len() > 1 || is_ordered, "{found:#?} are not in order");
    for ready in [&mut found, &mut expected] {
        ready.sort_by_key(|it| (it.wake.at, it.id));
    }
    same!(found, expected, "the ready machines of {kinds:?} to {limit}");
    Ok(())
}
