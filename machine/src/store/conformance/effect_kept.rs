//! A tool that was irreversible once is refused as idempotent from then on, and so is an action
//! whose key was used.

use super::prelude::*;

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    // It may become more risky, and stays so: for new machines and for those that were stored
    // before.
    let (mut early, mut raised) = (Machine::execution(), Machine::execution());
    store.accepts(early.create().calls("email.send", false)).await?;
    store.accepts(early.update(1).calls("email.send", false)).await?;
    store.accepts(raised.create().calls("email.send", true)).await?;
    for _ in 0..2 {
        is_refused(&store, "email.send").await?;
        let lowered = early.clone().update(1).calls("email.send", false);
        store.rejects(lowered, tool(early.id(), "email.send")).await?;
        store.accepts(raised.update(1).calls("email.send", true)).await?;
    }
    store.accepts(early.update(1)).await?;

    // Names are compared byte for byte.
    for other in ["email.sen", "email.send ", "Email.send", "email.send\0", "email.s\u{435}nd", ""]
    {
        is_idempotent(&store, other).await?;
        store.accepts(Machine::execution().create().calls(other, true)).await?;
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

async fn is_refused(store: &Subject, name: &str) -> Kept {
    let mut machine = Machine::execution();
    store.rejects(machine.create().calls(name, false), tool(machine.id(), name)).await
}

async fn is_idempotent(store: &Subject, name: &str) -> Kept {
    store.accepts(Machine::execution().create().calls(name, false)).await.map(drop)
}

/// A write counts for the ones after it, and nothing of a refused batch is written.
async fn in_one_batch(store: &Subject) -> Kept {
    let (mut first, mut second) = (Machine::execution(), Machine::execution());
    let raises = first.create().calls("cluster.deploy", true);
    let lowers = second.create().calls("cluster.deploy", false);
    let refusal = tool(second.id(), "cluster.deploy");
    store.rejects([raises.clone(), lowers.clone()], refusal).await?;
    is_idempotent(store, "cluster.deploy").await?;
    store.accepts([lowers, raises]).await?;
    is_refused(store, "cluster.deploy").await
}

/// Whatever a batch is refused for, no tool becomes irreversible by it.
async fn refused_batches_leave_nothing(store: &Subject) -> Kept {
    let (mut machine, mut lowered) = (Machine::execution(), Machine::execution());
    store.accepts(machine.create()).await?;
    for (bad, reason) in [
        (machine.stale(), Rejected::Commit(CommitError::Conflict { id: machine.id() })),
        (lowered.create().calls("email.send", false), tool(lowered.id(), "email.send")),
    ] {
        let raises = Machine::execution().create().calls("files.delete", true);
        for writes in [[bad.clone(), raises.clone()], [raises, bad]] {
            store.rejects(writes, reason.clone()).await?;
            is_idempotent(store, "files.delete").await?;
        }
    }
    Ok(())
}

/// The answer to a batch that was written does not change when its tool becomes irreversible.
async fn sent_again(store: &Subject) -> Kept {
    let created = batch([Machine::execution().create().calls("files.move", false)]);
    let applied = store.accepts(created.clone()).await?;
    store.accepts(Machine::execution().create().calls("files.move", true)).await?;
    same!(store.accepts(created).await?, applied, "the answer to the same batch");
    Ok(())
}

/// A key that was ever taken is not one of an idempotent action, however its attempts ended.
async fn used_keys(open: &Open<'_>) -> Kept {
    let lowered = |id| Rejected::EffectLowered { id, what: "this call of `k`".to_owned() };
    let unused = |write: Write| write.claims("k", Wants::NeverUsed);
    for hold in [Hold::Held, Hold::Applied, Hold::Released, Hold::Free] {
        let store = Subject::open(open);
        let mut owner = Machine::execution().with_key("k");
        let mut other = Machine::execution().with_key("k");
        store.accepts(Machine::job().with_key("k").create().takes("k")).await?;
        store.accepts(unused(other.create())).await?;

        let both = [owner.clone().create().takes("k"), unused(other.clone().update(1))];
        store.rejects(both, lowered(other.id())).await?;
        store.accepts(unused(other.update(1))).await?;

        store.accepts(owner.create().takes("k")).await?;
        store.accepts(owner.update(1).turns("k", hold)).await?;
        for machine in [&other, &owner] {
            store.rejects(unused(machine.clone().update(1)), lowered(machine.id())).await?;
        }
        store.accepts(other.update(1).claims("another", Wants::NeverUsed)).await?;
    }
    Ok(())
}
