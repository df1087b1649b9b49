//! Of several machines that want the same key, one gets it; when it frees the key, another can.

use super::prelude::*;

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    let mut first = Machine::execution().with_key("k");
    let mut second = Machine::execution().with_key("k");
    let (a, b) = (first.id(), second.id());
    let held_by_first = Rejected::Commit(CommitError::KeyHeld { id: b, by: a });

    // A batch cannot give the key to both.
    let both = [first.clone().create().takes("k"), second.clone().create().takes("k")];
    store.rejects(both, held_by_first.clone()).await?;

    store.accepts(first.create().takes("k")).await?;
    store.rejects(second.clone().create().takes("k"), held_by_first.clone()).await?;
    // A machine that only wants to exist is not refused, nor is the holder, nor one that wants
    // another key.
    store.accepts(second.create().claims("k", Wants::NotApplied)).await?;
    store.accepts(first.update(1).claims("k", Wants::Free)).await?;
    store.accepts(Machine::execution().with_key("other").create().takes("other")).await?;

    // Unknown whether it took effect: still held, though no worker has it.
    store.accepts(first.update(1).turns("k", Hold::Held)).await?;
    store.rejects(second.clone().update(1).takes("k"), held_by_first).await?;

    store.accepts(first.update(1).turns("k", Hold::Free)).await?;
    store.accepts(second.update(1).takes("k")).await?;
    let held_by_second = Rejected::Commit(CommitError::KeyHeld { id: a, by: b });
    // A batch can hand it over, but only in this order.
    let freed = second.update(1).turns("k", Hold::Free);
    let taken = first.update(1).takes("k");
    store.rejects(taken.clone(), held_by_second.clone()).await?;
    store.rejects([taken.clone(), freed.clone()], held_by_second).await?;
    store.accepts([freed, taken]).await?;
    let holds: Vec<_> = store.attempts_at("k").await?.iter().map(|it| (it.by, it.hold)).collect();
    same!(holds, [(a, Hold::Free), (b, Hold::Free), (a, Hold::Held)], "the attempts");
    Ok(())
}
