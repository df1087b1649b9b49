//! A batch writes all of its writes, or none.

use super::prelude::*;

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    let mut stored = Machine::execution();
    let mut holder = Machine::execution().with_key("held");
    store.accepts([stored.create(), holder.create()]).await?;
    for machine in [&stored, &holder] {
        store.agrees(machine).await.map_err(|wrong| format!("in a batch of two, {wrong}"))?;
    }
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
            let free = store.attempts_at("free").await?;
            ensure!(free.is_empty(), "a rejected batch left attempts: {free:#?}");
        }
    }
    Ok(())
}

/// Writes that must be rejected, and why.
fn bad_writes(stored: &Machine, holder: Id) -> Vec<(Write, Rejected)> {
    let mut missing = Machine::execution();
    let mut claimant = Machine::execution().with_key("held");
    let id = claimant.id();
    vec![
        (stored.stale(), Rejected::Conflict(stored.id())),
        (stored.clone().create(), Rejected::AlreadyStored(stored.id())),
        (missing.update(1), Rejected::NotFound(missing.id())),
        (claimant.create().takes("held"), Rejected::KeyHeld { id, by: holder }),
    ]
}
