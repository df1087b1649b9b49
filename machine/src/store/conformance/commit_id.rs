//! A batch that is sent again after its answer was lost succeeds, and is not written twice.

use super::prelude::*;

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    let mut first = Machine::execution().with_key("k");
    let mut second = Machine::execution();
    let created = batch([first.create(), second.create()]);
    twice(&store, &created).await?;
    let other = |batch: &WriteBatch| with_commit_id(batch.commit_id ^ 1, batch.clone());
    let stored = Rejected::Commit(CommitError::AlreadyStored { id: first.id() });
    store.rejects(other(&created), stored.clone()).await?;

    let update = batch([first.update(2).takes("k"), second.update(3)]);
    let applied = twice(&store, &update).await?;
    let attempts = store.attempts_at("k").await?.len();
    ensure!(attempts == 1, "a batch that was sent three times opened {attempts} attempts");
    let conflict = Rejected::Commit(CommitError::Conflict { id: first.id() });
    store.rejects(other(&update), conflict.clone()).await?;
    // Part of what was committed is another batch.
    let mut more = update.clone();
    more.writes.push(Machine::execution().create());
    store.rejects(with_commit_id(update.commit_id, more), conflict.clone()).await?;

    // One machine moves on: the other still proves that the batch succeeded.
    store.accepts(first.update(1)).await?;
    again(&store, &update, &applied).await?;
    // After the next commit of every machine it is too late to ask.
    store.accepts(second.update(1)).await?;
    store.rejects(update, conflict).await?;
    store.rejects(created, stored).await
}

async fn twice(store: &Subject, batch: &WriteBatch) -> Kept<AppliedBatch> {
    let applied = store.accepts(batch.clone()).await?;
    for _ in 0..2 {
        again(store, batch, &applied).await?;
    }
    Ok(applied)
}

async fn again(store: &Subject, batch: &WriteBatch, applied: &AppliedBatch) -> Kept {
    same!(store.unchanged(store.accepts(batch.clone())).await?, *applied, "the second answer");
    Ok(())
}
