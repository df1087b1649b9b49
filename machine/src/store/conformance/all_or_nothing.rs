//! All of a batch can be read as soon as it is acknowledged; of a rejected one, nothing is written.

use super::prelude::*;

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    same!(store.newest().await?, 0, "the newest number of an empty store");
    let mut stored = Machine::execution();
    let mut holder = Machine::execution().with_key("held");
    let last = store.accepts([stored.create(), holder.create()]).await?.last;
    same!(Some(&store.newest().await?), last.last(), "the newest number");
    for machine in [&stored, &holder] {
        store.agrees(machine).await.map_err(|wrong| format!("in a batch of two, {wrong}"))?;
    }
    let listed = store.select(Filter { limit: 9, ..Filter::default() }).await?.len();
    same!(listed, 2, "the number of rows");
    store.accepts(holder.update(1).takes("held")).await?;

    for (bad, reason) in bad_writes(&stored, holder.id()) {
        // Wherever the bad write is, the good ones before and after it are not written either. The
        // jobs also bring a definition that is not stored yet.
        for position in 0..3 {
            let mut good = [Machine::job().with_key("free"), stored.clone()];
            let mut writes = vec![good[0].create().takes("free"), good[1].update(2)];
            if bad.row.id == stored.id() {
                writes.pop();
            }
            writes.insert(position.min(writes.len()), bad.clone());
            store.rejects(writes, reason.clone()).await?;
        }
    }
    Ok(())
}

/// Writes that must be rejected, and why.
fn bad_writes(stored: &Machine, holder: Id) -> [(Write, Rejected); 4] {
    let mut missing = Machine::execution();
    let mut claimant = Machine::execution().with_key("held");
    let id = claimant.id();
    [
        (stored.stale(), Rejected::Commit(CommitError::Conflict { id: stored.id() })),
        (stored.clone().create(), Rejected::Commit(CommitError::AlreadyStored { id: stored.id() })),
        (missing.update(1), Rejected::Commit(CommitError::NotFound { id: missing.id() })),
        (
            claimant.create().takes("held"),
            Rejected::Commit(CommitError::KeyHeld { id, by: holder }),
        ),
    ]
}
