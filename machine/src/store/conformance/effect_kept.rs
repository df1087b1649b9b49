//! A tool that was irreversible once is refused as idempotent from then on, and so is an action whose
//! key was used.

use super::{
    Open, ensure,
    sample::{CONTRACTS, JOBS, Machine, batch, with_commit_id},
    subject::Subject,
};
use crate::{
    id::Id,
    store::backend::{Rejected, Wants},
    stored::Hold,
};

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    // It may become more risky, and stays so: for new machines and for those that were stored before.
    let (mut early, mut raised) = (Machine::execution(), Machine::execution());
    let created = early.create().calls("email.send", false);
    store.accepts(batch([(&early, created)])).await?;
    let again = early.update(1).calls("email.send", false);
    store.accepts(batch([(&early, again)])).await?;
    let created = raised.create().calls("email.send", true);
    store.accepts(batch([(&raised, created)])).await?;
    for _ in 0..2 {
        is_refused(&store, "email.send").await?;
        let lowered = early.clone().update(1).calls("email.send", false);
        store.rejects(batch([(&early, lowered)]), tool(early.id(), "email.send")).await?;
        let more = raised.update(1).calls("email.send", true);
        store.accepts(batch([(&raised, more)])).await?;
    }
    let untold = early.update(1);
    store.accepts(batch([(&early, untold)])).await?;

    // Names are compared byte for byte.
    for other in ["email.sen", "email.send ", "Email.send", "email.send\0", "email.s\u{435}nd", ""]
    {
        is_idempotent(&store, other).await?;
        let mut machine = Machine::execution();
        let created = machine.create().calls(other, true);
        store.accepts(batch([(&machine, created)])).await?;
        is_refused(&store, other).await?;
    }
    in_one_batch(&store).await?;
    refused_batches_leave_nothing(&store).await?;
    sent_again(&store).await?;
    used_keys(open).await
}

fn tool(id: Id, name: &str) -> Rejected {
    Rejected::EffectLowered { id, what: format!("the tool `{name}`") }
}

async fn is_refused(store: &Subject, name: &str) -> Result<(), String> {
    let mut machine = Machine::execution();
    let created = machine.create().calls(name, false);
    store.rejects(batch([(&machine, created)]), tool(machine.id(), name)).await
}

async fn is_idempotent(store: &Subject, name: &str) -> Result<(), String> {
    let mut machine = Machine::execution();
    let created = machine.create().calls(name, false);
    store.accepts(batch([(&machine, created)])).await.map(drop)
}

/// A write counts for the ones after it, and nothing of a refused batch is written.
async fn in_one_batch(store: &Subject) -> Result<(), String> {
    let (mut first, mut second) = (Machine::execution(), Machine::execution());
    let lowered = [
        (&first.clone(), first.clone().create().calls("cluster.deploy", true)),
        (&second.clone(), second.clone().create().calls("cluster.deploy", false)),
    ];
    store.rejects(batch(lowered), tool(second.id(), "cluster.deploy")).await?;
    is_idempotent(store, "cluster.deploy").await?;
    let raised = [
        (&second.clone(), second.create().calls("cluster.deploy", false)),
        (&first.clone(), first.create().calls("cluster.deploy", true)),
    ];
    store.accepts(batch(raised)).await?;
    is_refused(store, "cluster.deploy").await
}

/// Whatever a batch is refused for, no tool becomes irreversible by it.
async fn refused_batches_leave_nothing(store: &Subject) -> Result<(), String> {
    let mut machine = Machine::execution();
    let created = machine.create();
    store.accepts(batch([(&machine, created)])).await?;
    let mut stale = machine.clone();
    stale.row.version += 5;
    let mut lowered = Machine::execution();
    let (id, other) = (machine.id(), lowered.id());
    for (bad, reason) in [
        (stale.update(1), Rejected::Conflict(id)),
        (lowered.create().calls("email.send", false), tool(other, "email.send")),
    ] {
        let mut good = Machine::execution();
        for bad_first in [true, false] {
            let raises = good.clone().create().calls("files.delete", true);
            let mut both = batch([(&machine, bad.clone()), (&good, raises)]);
            if !bad_first {
                both.writes.reverse();
            }
            store.rejects(both, reason.clone()).await?;
            is_idempotent(store, "files.delete").await?;
        }
        let created = good.create();
        store.accepts(batch([(&good, created)])).await?;
    }
    Ok(())
}

/// The answer to a batch that was written does not change when its tool becomes irreversible.
async fn sent_again(store: &Subject) -> Result<(), String> {
    let (mut early, mut late) = (Machine::execution(), Machine::execution());
    let created = early.create().calls("files.move", false);
    let created = batch([(&early, created)]);
    let applied = store.accepts(created.clone()).await?;
    let raised = late.create().calls("files.move", true);
    store.accepts(batch([(&late, raised)])).await?;
    let again = store.accepts(with_commit_id(created.commit_id, created)).await?;
    ensure!(again == applied, "the same batch is answered with {again:?}, not {applied:?}");
    Ok(())
}

/// A key that was ever taken is not one of an idempotent action, however its attempts ended.
async fn used_keys(open: &Open<'_>) -> Result<(), String> {
    let lowered = |id| Rejected::EffectLowered { id, what: "this call of `k`".to_owned() };
    for hold in [Hold::Held, Hold::Applied, Hold::Released, Hold::Free] {
        let store = Subject::open(open);
        let mut owner = Machine::execution().with_key("k");
        let mut other = Machine::execution().with_key("k");
        let mut job = Machine::job().with_key("k");
        let taken = job.create().takes(JOBS, "k");
        store.accepts(batch([(&job, taken)])).await?;
        let unused = other.create().claims(CONTRACTS, "k", Wants::NeverUsed);
        store.accepts(batch([(&other, unused)])).await?;

        let both = [
            (&owner.clone(), owner.clone().create().takes(CONTRACTS, "k")),
            (&other.clone(), other.clone().update(1).claims(CONTRACTS, "k", Wants::NeverUsed)),
        ];
        store.rejects(batch(both), lowered(other.id())).await?;
        let unused = other.update(1).claims(CONTRACTS, "k", Wants::NeverUsed);
        store.accepts(batch([(&other, unused)])).await?;

        let taken = owner.create().takes(CONTRACTS, "k");
        store.accepts(batch([(&owner, taken)])).await?;
        let ended = owner.update(1).turns(CONTRACTS, "k", hold);
        store.accepts(batch([(&owner, ended)])).await?;
        for machine in [&other, &owner] {
            let used = machine.clone().update(1).claims(CONTRACTS, "k", Wants::NeverUsed);
            store.rejects(batch([(machine, used)]), lowered(machine.id())).await?;
        }
        let elsewhere = other.update(1).claims(CONTRACTS, "another", Wants::NeverUsed);
        store.accepts(batch([(&other, elsewhere)])).await?;
    }
    Ok(())
}
