//! A child has a place in an invocation, or none. A batch can move it to another entry of its
//! parent, and to no other machine.

use super::prelude::*;

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    let [mut parent, mut other, mut child, mut first, mut second] =
        [(); 5].map(|()| Machine::job());
    store.creates([&mut parent, &mut other]).await?;
    let id = parent.id();
    let children = vec![child.child_of(id), first.call_of(id, 0), second.call_of(id, 1)];
    let creates = [child.create(), first.create(), second.create()];
    store.accepts(WriteBatch { children, ..batch(creates) }).await?;
    places(&store, id, [(SINCE, None), (SINCE, Some(0)), (SINCE, Some(1))]).await?;

    // A machine that is no child, and a child of another one. Nothing else of the batch is written.
    let strangers = [
        (&first, other.id()),
        (&first, Id::fresh()),
        (&other, id),
        (&parent, id),
        (&Machine::job(), id),
    ];
    for (machine, of) in strangers {
        let moved_children = vec![second.moved_to(id, 9, None), machine.moved_to(of, 9, Some(3))];
        let batch = WriteBatch { moved_children, ..batch([parent.clone().update(1)]) };
        store.rejects(batch, CommitError::NotChild { id: machine.id(), parent: of }).await?;
    }

    let moved_children = vec![
        child.moved_to(id, 9, Some(2)),
        first.moved_to(id, 9, Some(0)),
        second.moved_to(id, SINCE, None),
    ];
    store.accepts(WriteBatch { moved_children, ..batch([parent.update(1)]) }).await?;
    places(&store, id, [(9, Some(2)), (9, Some(0)), (SINCE, None)]).await?;
    // Without a write of the parent, and of one that has ended.
    store.accepts(first.end()).await?;
    store.moves([first.moved_to(id, 11, None)]).await?;
    places(&store, id, [(9, Some(2)), (11, None), (SINCE, None)]).await
}

/// The entries and places of all children of a machine, oldest first.
async fn places(store: &Subject, parent: Id, expected: [(u64, Option<u32>); 3]) -> Kept {
    let children = store.children(parent).await?;
    let found: Vec<_> = children.iter().map(|child| (child.since, child.position)).collect();
    same!(found, expected, "the places");
    Ok(())
}
