//! A machine of a user can neither block nor free the key of a contract, and a key belongs to one
//! action.

use super::{
    Open,
    sample::{CONTRACTS, JOBS, Machine, action, batch},
    subject::Subject,
};
use crate::{
    store::backend::{Rejected, Wants},
    stored::Hold,
};

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    let mut job = Machine::job().with_key("k");
    let mut execution = Machine::execution().with_key("k");
    let mut rival = Machine::execution().with_key("k");
    let by = execution.id();

    // The job is first: the contract is not refused, whether the job holds the key or is done.
    let takes = job.create().takes(JOBS, "k");
    store.accepts(batch([(&job, takes)])).await?;
    let exists = rival.create().claims(CONTRACTS, "k", Wants::NotApplied);
    store.accepts(batch([(&rival, exists)])).await?;
    let applied = job.update(1).turns(JOBS, "k", Hold::Applied);
    store.accepts(batch([(&job, applied)])).await?;
    let takes = execution.create().takes(CONTRACTS, "k");
    store.accepts(batch([(&execution, takes)])).await?;

    // A change of the job's attempt does not free the contract's key.
    let freed = job.update(1).turns(JOBS, "k", Hold::Free);
    store.accepts(batch([(&job, freed)])).await?;
    let refused = rival.clone().update(1).takes(CONTRACTS, "k");
    let reason = Rejected::KeyHeld { id: rival.id(), by };
    store.rejects(batch([(&rival, refused)]), reason).await?;

    // A machine of a user does not get a contract's key, held or not.
    for hold in [Hold::Held, Hold::Free] {
        let turned = execution.update(1).turns(CONTRACTS, "k", hold);
        store.accepts(batch([(&execution, turned)])).await?;
        for wants in [Wants::Free, Wants::NotApplied] {
            let mut late = Machine::job().with_key("k");
            let write = late.create().claims(JOBS, "k", wants);
            let reason = Rejected::KeyReused { id: late.id(), by };
            store.rejects(batch([(&late, write)]), reason).await?;
        }
    }
    other_action(&store, &mut rival, &execution).await
}

/// A contract with another action does not get the key, though it is free.
async fn other_action(
    store: &Subject,
    rival: &mut Machine,
    execution: &Machine,
) -> Result<(), String> {
    for other in [Some(action("another")), None] {
        let mut write = rival.clone().update(1).takes(CONTRACTS, "k");
        if let Some(claim) = &mut write.claim {
            claim.action = other;
        }
        let reason = Rejected::KeyReused { id: rival.id(), by: execution.id() };
        store.rejects(batch([(&*rival, write)]), reason).await?;
    }
    let same = rival.update(1).takes(CONTRACTS, "k");
    store.accepts(batch([(&*rival, same)])).await.map(drop)
}
