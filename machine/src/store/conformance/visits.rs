//! A machine that leaves a visit ends the calls of the visit that have not begun, and asks its machines to cancel.

use super::{
    Open,
    children::{cancelled, noted},
    ensure,
    event::NOW,
    sample::{Machine, batch},
    subject::Subject,
};
use crate::{
    id::Id,
    store::backend::{LeftVisit, NewChild, Rejected, Write, WriteBatch},
};

/// Since when a machine is in its second visit.
const SECOND: u64 = 3;

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    let mut parent = Machine::job();
    store.accepts(parent.create()).await?;
    let earlier = add(&store, &parent, Machine::job(), (None, None)).await?;
    let earlier_call = add(&store, &parent, Machine::execution(), (None, None)).await?;
    store.accepts(parent.update(SECOND - 1)).await?;

    // A backend knows in which version the parent is.
    let job = add(&store, &parent, Machine::job(), (None, None)).await?;
    let mut ended = add(&store, &parent, Machine::job(), (None, None)).await?;
    store.accepts(ended.end()).await?;
    let mut planned = add(&store, &parent, Machine::execution(), (None, None)).await?;
    let mut begun = add(&store, &parent, Machine::execution(), (None, None)).await?;
    begun.row.status = "running".to_owned();
    store.accepts(begun.update(1)).await?;
    // Other rules hold for the calls of an invocation.
    let call = add(&store, &parent, Machine::execution(), (Some(SECOND), Some(0))).await?;
    let since: Vec<_> = store.children(parent.id()).await?.iter().map(|it| it.since).collect();
    ensure!(since == [1, 1, SECOND, SECOND, SECOND, SECOND, SECOND], "they are of {since:?}");

    let all = [&earlier, &earlier_call, &job, &ended, &planned, &begun, &call].map(Machine::id);
    // A call that has not begun does not stay behind, unless it is known that it cannot be ended.
    let kept = leaves(parent.clone().update(1), SECOND, &[]);
    store.rejects(kept, Rejected::Conflict(planned.id())).await?;
    let other = leaves(parent.clone().update(1), SECOND, &[begun.id()]);
    store.rejects(other, Rejected::Conflict(planned.id())).await?;
    cancelled(&store, &all, &[]).await?;
    let mut stranger = parent.clone();
    store.accepts(parent.update(1)).await?;
    cancelled(&store, &all, &[]).await?;
    let stale = leaves(stranger.update(1), SECOND, &[planned.id()]);
    store.rejects(stale, Rejected::Conflict(parent.id())).await?;

    // What comes with the move is of the next visit.
    let mut next = Machine::job();
    let children = vec![NewChild { since: None, ..next.child_of(parent.id()) }];
    let writes = [leaves(parent.update(1), SECOND, &[]), planned.end(), next.create()];
    store.accepts(WriteBatch { children, ..batch(writes) }).await?;
    let asked = [(job.id(), parent.id())];
    cancelled(&store, &all, &asked).await?;
    cancelled(&store, &[next.id()], &[]).await?;

    // The end of a machine reaches only the visit that ends.
    let newest = parent.row.version;
    let unread = add(&store, &parent, Machine::execution(), (None, None)).await?;
    store.accepts(leaves(parent.end(), newest, &[unread.id()])).await?;
    cancelled(&store, &all, &asked).await?;
    let ends = [(next.id(), parent.id()), (unread.id(), parent.id())];
    cancelled(&store, &[next.id(), unread.id()], &ends).await?;
    ends_of_children(&Subject::open(open)).await
}

/// The end of a child concerns the visit in which it ended, and no later one.
async fn ends_of_children(store: &Subject) -> Result<(), String> {
    store.drives(&["job"]).await?;
    let mut parent = Machine::job();
    store.accepts(parent.create()).await?;
    let mut child = add(store, &parent, Machine::job(), (None, None)).await?;
    store.accepts(child.end()).await?;
    store.accepts(parent.update(1)).await?;
    noted(store, parent.id(), Some(NOW)).await?;
    store.accepts(leaves(parent.update(1), 1, &[])).await?;
    noted(store, parent.id(), None).await
}

/// Adds a child to a machine, with this version and place.
async fn add(
    store: &Subject,
    parent: &Machine,
    mut it: Machine,
    (since, position): (Option<u64>, Option<u32>),
) -> Result<Machine, String> {
    let children = vec![NewChild { since, position, ..it.child_of(parent.id()) }];
    store.accepts(WriteBatch { children, ..batch([it.create()]) }).await?;
    Ok(it)
}

/// This write leaves a visit.
fn leaves(write: Write, since: u64, except: &[Id]) -> Write {
    Write { left: Some(LeftVisit { since, except: except.to_vec() }), ..write }
}
