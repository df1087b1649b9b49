//! A machine that leaves a visit asks the child machines of the visit to cancel.

use super::{
    children::{cancelled, noted},
    prelude::*,
};

/// Since when a machine is in its second visit.
const SECOND: u64 = 3;

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    let mut parent = Machine::job();
    store.accepts(parent.create()).await?;
    let earlier = add_job(&store, &parent).await?;
    store.accepts(parent.update(SECOND - 1)).await?;

    // A backend knows in which version the parent is.
    let job = add_job(&store, &parent).await?;
    let mut ended = add_job(&store, &parent).await?;
    store.accepts(ended.end()).await?;
    // Other rules hold for the calls of an invocation.
    let call = add_call(&store, &parent, (Some(SECOND), Some(0))).await?;
    let since: Vec<_> = store.children(parent.id()).await?.iter().map(|it| it.since).collect();
    same!(since, [1, SECOND, SECOND, SECOND], "the visits of the children");

    let all = [&earlier, &job, &ended, &call].map(Machine::id);
    let mut stranger = parent.clone();
    store.accepts(parent.update(1)).await?;
    cancelled(&store, &all, &[]).await?;
    let stale = leaves(stranger.update(1), SECOND);
    store.rejects(stale, CommitError::Conflict { id: parent.id() }).await?;

    // What comes with the move is of the next visit.
    let mut next = Machine::job();
    let children = vec![NewChild { since: None, ..next.child_of(parent.id()) }];
    let writes = [leaves(parent.update(1), SECOND), next.create()];
    store.accepts(WriteBatch { children, ..batch(writes) }).await?;
    let asked = [(job.id(), parent.id())];
    cancelled(&store, &all, &asked).await?;
    cancelled(&store, &[next.id()], &[]).await?;

    // The end of a machine reaches only the visit that ends, and no call of it.
    let newest = parent.row.version;
    let call = add_call(&store, &parent, (None, None)).await?;
    store.accepts(leaves(parent.end(), newest)).await?;
    cancelled(&store, &all, &asked).await?;
    cancelled(&store, &[next.id(), call.id()], &[(next.id(), parent.id())]).await?;
    let store = Subject::open(open);
    store.drives(&["job"]).await?;
    alone(&store).await?;
    ends_of_children(&store).await?;
    withdrawn(&store).await
}

/// Also if the batch writes nothing but the move.
async fn alone(store: &Subject) -> Kept {
    let mut parent = Machine::job();
    store.accepts(parent.create()).await?;
    let job = add_job(store, &parent).await?;
    store.accepts(leaves(parent.update(1), 1)).await?;
    cancelled(store, &[job.id()], &[(job.id(), parent.id())]).await
}

/// The end of a child concerns the visit in which it ended, and no later one.
async fn ends_of_children(store: &Subject) -> Kept {
    let mut parent = Machine::job();
    store.accepts(parent.create()).await?;
    let mut child = add_job(store, &parent).await?;
    store.accepts(child.end()).await?;
    store.accepts(parent.update(1)).await?;
    noted(store, parent.id(), Some(NOW)).await?;
    let mut late = add_job(store, &parent).await?;
    store.accepts(leaves(parent.update(1), 1).enters(2)).await?;
    noted(store, parent.id(), None).await?;
    store.accepts(late.end()).await?;
    noted(store, parent.id(), None).await?;
    let mut next = add_job(store, &parent).await?;
    store.accepts(next.end()).await?;
    noted(store, parent.id(), Some(NOW)).await
}

/// A call that ends because its parent leaves the state is no end of a child in the next one, also
/// with `detach`.
async fn withdrawn(store: &Subject) -> Kept {
    let mut parent = Machine::job();
    store.accepts(parent.create()).await?;
    let id = parent.id();
    let mut call = add_call(store, &parent, (Some(SECOND), Some(0))).await?;
    let moved_children = vec![call.moved_to(id, SECOND, None)];
    let writes = [parent.update(1), call.end()];
    store.accepts(WriteBatch { moved_children, ..batch(writes) }).await?;
    noted(store, id, None).await?;
    // One that was let go and ends later may be what the next state waits for.
    let mut call = add_call(store, &parent, (Some(SECOND), None)).await?;
    store.accepts([parent.update(1), call.end()]).await?;
    noted(store, id, Some(NOW)).await
}

/// A new child machine, of the version in which its parent is.
async fn add_job(store: &Subject, parent: &Machine) -> Kept<Machine> {
    let mut it = Machine::job();
    store.adds(NewChild { since: None, ..it.child_of(parent.id()) }, &mut it).await?;
    Ok(it)
}

/// A new call, with this version and place.
async fn add_call(
    store: &Subject,
    parent: &Machine,
    (since, position): (Option<u64>, Option<u32>),
) -> Kept<Machine> {
    let mut it = Machine::execution();
    store.adds(NewChild { since, position, ..it.child_of(parent.id()) }, &mut it).await?;
    Ok(it)
}

/// This write leaves a visit.
fn leaves(write: Write, since: u64) -> Write {
    Write { left: Some(since), ..write }
}
