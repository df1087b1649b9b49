//! An action that took effect is final: no other machine may take the key, nor be created for it.

use super::prelude::*;

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    let mut done = Machine::execution().with_key("k");
    let mut waiting = Machine::execution().with_key("k");
    store.accepts(done.create().takes("k")).await?;
    store.accepts(waiting.create().claims("k", Wants::NotApplied)).await?;
    store.accepts(done.update(1).turns("k", Hold::Applied)).await?;

    let by = done.id();
    for wants in [Wants::Free, Wants::NotApplied] {
        let mut new = Machine::execution().with_key("k");
        let write = new.create().claims("k", wants);
        store.rejects(write, CommitError::AlreadyDone { id: new.id(), by }).await?;
    }
    // Whatever else is written for the machine that did it.
    store.accepts(done.update(2)).await?;
    store.accepts(done.update(1).claims("k", Wants::NotApplied)).await?;
    let id = waiting.id();
    store.rejects(waiting.update(1).takes("k"), CommitError::AlreadyDone { id, by }).await
}
