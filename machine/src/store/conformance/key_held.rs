//! Of several machines that want the same key, one gets it; when it frees the key, another can.

use super::prelude::*;

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    let mut first = Machine::execution().with_key("k");
    let mut second = Machine::execution().with_key("k");
    let (a, b) = (first.id(), second.id());

    // A batch cannot give the key to both.
    let both = [first.clone().create().takes("k"), second.clone().create().takes("k")];
    store.rejects(both, Rejected::KeyHeld { id: b, by: a }).await?;

    store.accepts(first.create().takes("k")).await?;
    store.rejects(second.clone().create().takes("k"), Rejected::KeyHeld { id: b, by: a }).await?;
    // A machine that only wants to exist is not refused, nor is the holder, nor one that wants
    // another key.
    store.accepts(second.create().claims("k", Wants::NotApplied)).await?;
    store.accepts(first.update(1).claims("k", Wants::Free)).await?;
    let mut other = Machine::execution().with_key("other");
    store.accepts(other.create().takes("other")).await?;

    // Unknown whether it took effect: still held, though no worker has it.
    let mut unknown = first.update(1).turns("k", Hold::Held);
    if let Some(change) = &mut unknown.attempt {
        (change.worker, change.expires_at) = (None, None);
    }
    store.accepts(unknown).await?;
    store.rejects(second.clone().update(1).takes("k"), Rejected::KeyHeld { id: b, by: a }).await?;

    store.accepts(first.update(1).turns("k", Hold::Free)).await?;
    store.accepts(second.update(1).takes("k")).await?;
    store.rejects(first.clone().update(1).takes("k"), Rejected::KeyHeld { id: a, by: b }).await?;
    // A batch can hand it over, but only in this order.
    let freed = |machine: &mut Machine| machine.update(1).turns("k", Hold::Free);
    let taken = |machine: &mut Machine| machine.update(1).takes("k");
    let (mut early, mut late) = (first.clone(), second.clone());
    let reversed = [taken(&mut early), freed(&mut late)];
    store.rejects(reversed, Rejected::KeyHeld { id: a, by: b }).await?;
    store.accepts([freed(&mut second), taken(&mut first)]).await?;
    let holds: Vec<_> = store.attempts_at("k").await?.iter().map(|it| (it.by, it.hold)).collect();
    ensure!(
        holds == [(a, Hold::Free), (b, Hold::Free), (a, Hold::Held)],
        "the attempts are {holds:?}"
    );
    Ok(())
}
