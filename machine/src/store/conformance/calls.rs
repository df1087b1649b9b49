//! The calls of an entry are found in the order of their places, and those with a key by that, each
//! with its attempt and with where its outcome is.

use super::prelude::*;
use crate::store::backend::CallRow;

/// What a read says of a call: its hold, its action, and where its outcome is.
type Progress = (Hold, Option<Digest>, Option<Delivery>);

const PLANNED: Progress = (Hold::Free, None, None);

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    store.drives(&["job"]).await?;
    let (mut parent, mut other) = (Machine::job(), Machine::job());
    store.accepts([parent.create(), other.create()]).await?;
    let id = parent.id();
    // Two calls of one entry, in the other order, one of another entry, a child, and a stranger,
    // all with one key.
    let [mut second, mut first, mut older, mut child, mut strange] =
        [(); 5].map(|()| Machine::execution().with_key("k"));
    let older_call = older.call_of(id, 0);
    let children = vec![
        second.call_of(id, 1),
        first.call_of(id, 0),
        NewChild { since: Some(3), ..older_call },
        child.child_of(id),
        strange.call_of(other.id(), 0),
    ];
    let writes =
        [second.create(), first.create(), older.create(), child.create(), strange.create()];
    store.accepts(WriteBatch { children, ..batch(writes) }).await?;

    let of_entry = [call(&first, SINCE, 0, PLANNED), call(&second, SINCE, 1, PLANNED)];
    store.has_calls(id, SINCE, &of_entry).await?;
    store.has_calls(id, 3, &[call(&older, 3, 0, PLANNED)]).await?;
    store.has_calls(id, 4, &[]).await?;
    store.has_calls(Id::fresh(), SINCE, &[]).await?;
    let of_key = [
        call(&second, SINCE, 1, PLANNED),
        call(&first, SINCE, 0, PLANNED),
        call(&older, 3, 0, PLANNED),
    ];
    store.has_same_calls(id, "k", &of_key).await?;
    store.has_same_calls(id, "other", &[]).await?;
    store.has_same_calls(Id::fresh(), "k", &[]).await?;

    // It begins, ends, and is taken.
    let action = Some(action("k"));
    store.accepts(first.update(1).takes("k")).await?;
    store
        .has_calls(
            id,
            SINCE,
            &[call(&first, SINCE, 0, (Hold::Held, action, None)), of_entry[1].clone()],
        )
        .await?;
    store.accepts(first.end().turns("k", Hold::Applied)).await?;
    let queued = call(&first, SINCE, 0, (Hold::Applied, action, Some(Delivery::Queued)));
    store.has_calls(id, SINCE, &[queued.clone(), of_entry[1].clone()]).await?;
    store.has_same_calls(id, "k", &[of_key[0].clone(), queued, of_key[2].clone()]).await?;
    store.takes(&mut parent, &first).await?;
    let handled = call(&first, SINCE, 0, (Hold::Applied, action, Some(Delivery::Handled)));
    store.has_calls(id, SINCE, &[handled.clone(), of_entry[1].clone()]).await?;

    // A later entry takes one over, and another one is dropped.
    let joined = MovedChild { child: older.id(), parent: id, since: SINCE, position: Some(2) };
    let dropped = MovedChild { child: second.id(), parent: id, since: SINCE, position: None };
    store.accepts(WriteBatch { moved_children: vec![joined, dropped], ..batch([]) }).await?;
    let expected = [handled, call(&older, SINCE, 2, PLANNED)];
    store.has_calls(id, SINCE, &expected).await?;
    store.has_same_calls(id, "k", &expected).await?;
    store.has_calls(id, 3, &[]).await?;
    store.accepts(parent.end()).await?;
    store.has_calls(id, SINCE, &expected).await
}

fn call(
    machine: &Machine,
    since: u64,
    position: u32,
    (hold, action, outcome): Progress,
) -> CallRow {
    CallRow {
        id: machine.id(),
        since,
        position,
        status: machine.row.status.clone(),
        has_ended: machine.row.ended,
        hold,
        action,
        outcome,
    }
}

impl Subject {
    async fn has_calls(&self, parent: Id, since: u64, expected: &[CallRow]) -> Result<(), String> {
        let found = self.0.calls(parent, since).await?;
        let found: Result<Vec<_>, _> = found.into_iter().collect();
        ensure!(found.as_deref() == Ok(expected), "calls are {found:#?}, not {expected:#?}");
        Ok(())
    }

    async fn has_same_calls(
        &self,
        parent: Id,
        key: &str,
        expected: &[CallRow],
    ) -> Result<(), String> {
        let found = self.0.same_call(parent, key.to_owned()).await?;
        let found: Result<Vec<_>, _> = found.into_iter().collect();
        ensure!(found.as_deref() == Ok(expected), "of `{key}`: {found:#?}, not {expected:#?}");
        Ok(())
    }
}
