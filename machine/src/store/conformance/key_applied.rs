//! An action that took effect is final: no other machine may take the key, nor be created for it.

use super::{
    Open,
    sample::{CONTRACTS, Machine, batch},
    subject::Subject,
};
use crate::{
    store::backend::{Rejected, Wants},
    stored::Hold,
};

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    let mut done = Machine::execution().with_key("k");
    let mut waiting = Machine::execution().with_key("k");
    let takes = done.create().takes(CONTRACTS, "k");
    store.accepts(batch([(&done, takes)])).await?;
    let exists = waiting.create().claims(CONTRACTS, "k", Wants::NotApplied);
    store.accepts(batch([(&waiting, exists)])).await?;
    let applied = done.update(1).turns(CONTRACTS, "k", Hold::Applied);
    store.accepts(batch([(&done, applied)])).await?;

    let by = done.id();
    for wants in [Wants::Free, Wants::NotApplied] {
        let mut new = Machine::execution().with_key("k");
        let write = new.create().claims(CONTRACTS, "k", wants);
        let reason = Rejected::AlreadyDone { id: new.id(), by };
        store.rejects(batch([(&new, write)]), reason).await?;
    }
    let write = waiting.clone().update(1).takes(CONTRACTS, "k");
    let reason = Rejected::AlreadyDone { id: waiting.id(), by };
    store.rejects(batch([(&waiting, write)]), reason.clone()).await?;

    // Whatever else is written for the machine that did it.
    let more = done.update(2);
    store.accepts(batch([(&done, more)])).await?;
    let own = done.update(1).claims(CONTRACTS, "k", Wants::NotApplied);
    store.accepts(batch([(&done, own)])).await?;
    let write = waiting.clone().update(1).takes(CONTRACTS, "k");
    store.rejects(batch([(&waiting, write)]), reason).await
}
