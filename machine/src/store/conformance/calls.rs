//! The calls of an entry are found in the order of their places, and those with a key by that, each
//! with its attempt, the time of its end, and where its outcome is. No later entry takes over one
//! whose outcome was taken.

use super::prelude::*;
use crate::store::backend::CallRow;

/// What a read says of a call: its hold, its action, and where its outcome is.
type Progress = (Hold, Option<Digest>, Option<Delivery>);

const PLANNED: Progress = (Hold::Free, None, None);

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    store.drives(&["job"]).await?;
    let (mut parent, mut other) = (Machine::job(), Machine::job());
    store.creates([&mut parent, &mut other]).await?;
    let id = parent.id();
    // Two calls of one entry, in the other order, one of another entry, a child, and a stranger,
    // all with one key.
    let mut all = [(); 5].map(|()| Machine::execution().with_key("k"));
    let writes = all.each_mut().map(Machine::create);
    let [second, mut first, older, child, strange] = all;
    let children = vec![
        second.call_of(id, 1),
        first.call_of(id, 0),
        NewChild { since: Some(3), ..older.call_of(id, 0) },
        child.child_of(id),
        strange.call_of(other.id(), 0),
    ];
    store.accepts(WriteBatch { children, ..batch(writes) }).await?;

    let [one, two] = [call(&first, SINCE, 0, PLANNED), call(&second, SINCE, 1, PLANNED)];
    let three = call(&older, 3, 0, PLANNED);
    store.has_calls(id, SINCE, &[&one, &two]).await?;
    store.has_calls(id, 3, &[&three]).await?;
    store.has_calls(id, 4, &[]).await?;
    store.has_calls(Id::fresh(), SINCE, &[]).await?;
    store.has_same_calls(id, "k", &[&two, &one, &three]).await?;
    store.has_same_calls(id, "other", &[]).await?;
    store.has_same_calls(Id::fresh(), "k", &[]).await?;

    // It begins, ends, and is taken.
    let action = Some(action("k"));
    store.accepts(first.update(1).takes("k")).await?;
    let held = call(&first, SINCE, 0, (Hold::Held, action, None));
    store.has_calls(id, SINCE, &[&held, &two]).await?;
    store.accepts(first.end().turns("k", Hold::Applied)).await?;
    let queued = call(&first, SINCE, 0, (Hold::Applied, action, Some(Delivery::Queued)));
    store.has_calls(id, SINCE, &[&queued, &two]).await?;
    store.has_same_calls(id, "k", &[&two, &queued, &three]).await?;
    store.takes(&mut parent, &outcome_of(first.id())).await?;
    let handled = call(&first, SINCE, 0, (Hold::Applied, action, Some(Delivery::Handled)));
    store.has_calls(id, SINCE, &[&handled, &two]).await?;

    let moved_children = vec![first.moved_to(id, 9, Some(0))];
    let joins = WriteBatch { moved_children, ..batch([parent.clone().update(1)]) };
    store.rejects(joins, CommitError::Conflict { id: first.id() }).await?;

    // A later entry takes one over, and another one is dropped.
    store.moves([older.moved_to(id, SINCE, Some(2)), second.moved_to(id, SINCE, None)]).await?;
    let joined = call(&older, SINCE, 2, PLANNED);
    store.has_calls(id, SINCE, &[&handled, &joined]).await?;
    store.has_same_calls(id, "k", &[&handled, &joined]).await?;
    store.has_calls(id, 3, &[]).await?;
    store.accepts(parent.end()).await?;
    store.has_calls(id, SINCE, &[&handled, &joined]).await
}

fn call(
    machine: &Machine,
    since: u64,
    position: u32,
    (hold, action, outcome): Progress,
) -> CallRow {
    let row = &machine.row;
    let (status, ended_at) = (row.status.clone(), row.ended.then(|| machine.entered_at()));
    CallRow { id: row.id, since, position, status, ended_at, hold, action, outcome }
}

impl Subject {
    async fn has_calls(&self, parent: Id, since: u64, expected: &[&CallRow]) -> Kept {
        let found = sound(self.0.calls(parent, since).await?)?;
        same!(found.iter().collect::<Vec<_>>(), expected, "the calls of {since}");
        Ok(())
    }

    async fn has_same_calls(&self, parent: Id, key: &str, expected: &[&CallRow]) -> Kept {
        let found = sound(self.0.same_call(parent, key.to_owned()).await?)?;
        same!(found.iter().collect::<Vec<_>>(), expected, "the calls of `{key}`");
        Ok(())
    }
}
