//! A machine of a user can neither block nor free the key of a contract, and a key belongs to one
//! action.

use super::prelude::*;

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    let mut job = Machine::job().with_key("k");
    let mut execution = Machine::execution().with_key("k");
    let mut rival = Machine::execution().with_key("k");
    let (id, by) = (rival.id(), execution.id());

    // The job is first: the contract is not refused, whether the job holds the key or is done.
    store.accepts(job.create().takes("k")).await?;
    store.accepts(rival.create().claims("k", Wants::NotApplied)).await?;
    store.accepts(job.update(1).turns("k", Hold::Applied)).await?;
    store.accepts(execution.create().takes("k")).await?;

    // A change of the job's attempt does not free the contract's key.
    store.accepts(job.update(1).turns("k", Hold::Free)).await?;
    let taken = rival.update(1).takes("k");
    store.rejects(taken.clone(), CommitError::KeyHeld { id, by }).await?;

    // A machine of a user does not get a contract's key, held or not.
    for hold in [Hold::Held, Hold::Free] {
        store.accepts(execution.update(1).turns("k", hold)).await?;
        for wants in [Wants::Free, Wants::NotApplied] {
            let mut late = Machine::job().with_key("k");
            let reason = Rejected::Commit(CommitError::KeyReused { id: late.id(), by });
            store.rejects(late.create().claims("k", wants), reason).await?;
        }
    }
    // A contract with another action does not get the key, though it is free.
    for other in [Some(action("another")), None] {
        let mut write = taken.clone();
        if let Some(claim) = &mut write.claim {
            claim.action = other;
        }
        store.rejects(write, CommitError::KeyReused { id, by }).await?;
    }
    store.accepts(taken).await.map(drop)
}
