//! Of several machines that want the same key, one gets it; when it frees the key, another can.

use super::{
    Open, ensure,
    sample::{CONTRACTS, Machine, batch},
    subject::Subject,
};
use crate::{
    store::backend::{Rejected, Wants},
    stored::Hold,
};

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    let mut first = Machine::execution().with_key("k");
    let mut second = Machine::execution().with_key("k");
    let (a, b) = (first.id(), second.id());

    // A batch cannot give the key to both.
    let both = [
        (&first.clone(), first.clone().create().takes(CONTRACTS, "k")),
        (&second.clone(), second.clone().create().takes(CONTRACTS, "k")),
    ];
    store.rejects(batch(both), Rejected::KeyHeld { id: b, by: a }).await?;

    let takes = first.create().takes(CONTRACTS, "k");
    store.accepts(batch([(&first, takes)])).await?;
    let refused = second.clone().create().takes(CONTRACTS, "k");
    store.rejects(batch([(&second, refused)]), Rejected::KeyHeld { id: b, by: a }).await?;
    // A machine that only wants to exist is not refused, nor is the holder, nor one that wants another key.
    let exists = second.create().claims(CONTRACTS, "k", Wants::NotApplied);
    store.accepts(batch([(&second, exists)])).await?;
    let holder = first.update(1).claims(CONTRACTS, "k", Wants::Free);
    store.accepts(batch([(&first, holder)])).await?;
    let mut other = Machine::execution().with_key("other");
    let elsewhere = other.create().takes(CONTRACTS, "other");
    store.accepts(batch([(&other, elsewhere)])).await?;

    // Unknown whether it took effect: still held, though no worker has it.
    let mut unknown = first.update(1).turns(CONTRACTS, "k", Hold::Held);
    if let Some(change) = &mut unknown.attempt {
        (change.worker, change.expires_at) = (None, None);
    }
    store.accepts(batch([(&first, unknown)])).await?;
    let refused = second.clone().update(1).takes(CONTRACTS, "k");
    store.rejects(batch([(&second, refused)]), Rejected::KeyHeld { id: b, by: a }).await?;

    let freed = first.update(1).turns(CONTRACTS, "k", Hold::Free);
    store.accepts(batch([(&first, freed)])).await?;
    let takes = second.update(1).takes(CONTRACTS, "k");
    store.accepts(batch([(&second, takes)])).await?;
    let back = first.clone().update(1).takes(CONTRACTS, "k");
    store.rejects(batch([(&first, back)]), Rejected::KeyHeld { id: a, by: b }).await?;
    // A batch can hand it over, but only in this order.
    let freed = |machine: &mut Machine| machine.update(1).turns(CONTRACTS, "k", Hold::Free);
    let taken = |machine: &mut Machine| machine.update(1).takes(CONTRACTS, "k");
    let (mut early, mut late) = (first.clone(), second.clone());
    let reversed = [(&first, taken(&mut early)), (&second, freed(&mut late))];
    store.rejects(batch(reversed), Rejected::KeyHeld { id: a, by: b }).await?;
    let ordered = [(&second.clone(), freed(&mut second)), (&first.clone(), taken(&mut first))];
    store.accepts(batch(ordered)).await?;
    let holds: Vec<_> = store.attempts_at("k").await?.iter().map(|it| (it.by, it.hold)).collect();
    ensure!(
        holds == [(a, Hold::Free), (b, Hold::Free), (a, Hold::Held)],
        "the attempts are {holds:?}"
    );
    Ok(())
}
