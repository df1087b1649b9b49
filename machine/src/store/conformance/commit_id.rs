//! A batch that is sent again after its answer was lost succeeds, and is not written twice.

use super::prelude::*;

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    let mut first = Machine::execution().with_key("k");
    let mut second = Machine::execution();
    let created = batch([first.create(), second.create()]);
    twice(&store, &created).await?;
    let reason = Rejected::AlreadyStored(first.id());
    store.rejects(with_commit_id(created.commit_id ^ 1, created.clone()), reason).await?;

    let update = batch([first.update(2).takes("k"), second.update(3)]);
    let applied = twice(&store, &update).await?;
    let attempts = store.attempts_at("k").await?.len();
    ensure!(attempts == 1, "a batch that was sent three times opened {attempts} attempts");
    let reason = Rejected::Conflict(first.id());
    store.rejects(with_commit_id(update.commit_id ^ 1, update.clone()), reason.clone()).await?;
    // Part of what was committed is another batch.
    let mut more = update.clone();
    let mut third = Machine::execution();
    more.writes.push(third.create());
    let more = with_commit_id(update.commit_id, more);
    store.rejects(more, reason.clone()).await?;

    // One machine moves on: the other still proves that the batch succeeded.
    store.accepts(first.update(1)).await?;
    again(&store, &update, &applied).await?;
    // After the next commit of every machine it is too late to ask.
    store.accepts(second.update(1)).await?;
    store.rejects(update, reason).await?;
    store.rejects(created, Rejected::AlreadyStored(first.id())).await
}

async fn twice(store: &Subject, batch: &WriteBatch) -> Result<AppliedBatch, String> {
    let applied = store.accepts(batch.clone()).await?;
    for _ in 0..2 {
        again(store, batch, &applied).await?;
    }
    Ok(applied)
}

async fn again(store: &Subject, batch: &WriteBatch, applied: &AppliedBatch) -> Result<(), String> {
    let before = store.snapshot().await?;
    let again = store.accepts(batch.clone()).await?;
    ensure!(again == *applied, "the second answer is {again:?}, the first was {applied:?}");
    let after = store.snapshot().await?;
    ensure!(before == after, "written twice\nfrom {before}\nto {after}");
    Ok(())
}
