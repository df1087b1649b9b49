//! Closing completes queued work; after that every call answers that the store has stopped.

use super::prelude::*;

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    let mut machine = Machine::execution();
    let identity = store.0.identity();
    let queued = started(store.0.apply(batch([machine.create()]))).await;
    let closing = store.0.close();
    let answer = queued.await;
    ensure!(matches!(answer, Ok(Ok(_))), "what was queued before closing answered {answer:?}");
    closing.await.map_err(|error| format!("closing failed: {error}"))?;

    let (id, update) = (machine.id(), machine.update(1));
    stopped("apply", store.0.apply(batch([update])).await)?;
    stopped("rows", store.0.rows(vec![id]).await)?;
    stopped("select", store.0.select(Filter { limit: 1, ..Filter::default() }).await)?;
    stopped("history", store.0.history(id, 0, 1).await)?;
    stopped("entries", store.0.entries(0, 1).await)?;
    stopped("attempts", store.0.attempts(Attempts::Unanswered).await)?;
    stopped("records", store.0.records(Records::All).await)?;
    stopped("definitions", store.0.definitions().await)?;
    stopped("newest", store.0.newest().await)?;
    let again = store.0.close().await;
    ensure!(again.is_ok(), "closing a second time answers {again:?}");
    ensure!(store.0.identity() == identity, "closing changed the identity of the store");
    Ok(())
}

fn stopped<T>(call: &str, answer: Result<T, Unavailable>) -> Kept {
    match answer {
        Ok(_) => Err(format!("`{call}` works after closing")),
        Err(Unavailable::Stopped) => Ok(()),
        Err(error) => Err(format!("`{call}` answers after closing: {error}")),
    }
}
