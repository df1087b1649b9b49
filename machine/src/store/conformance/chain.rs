//! The last line of each transaction covers every line so far.

use super::prelude::*;
use crate::journal::DigestKey;

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    for key in [settings().key, DigestKey::default()] {
        let settings = StoreSettings { key, ..settings() };
        let store = Subject::open_with(open, settings);
        let ends = fill(&store, key).await?;
        recompute(&store, &key, &ends).await?;
    }
    Ok(())
}

/// Commits one batch after the other; returns the number of the last line of each.
async fn fill(store: &Subject, key: DigestKey) -> Result<Vec<u64>, String> {
    let mut machines: Vec<_> = (0..3).map(|_| Machine::execution()).collect();
    let mut ends = Vec::new();
    for round in 0..5 {
        let mut writes = Vec::new();
        for machine in &mut machines[..=round % 3] {
            machine.key = key;
            writes.push(match machine.row.version {
                0 => machine.create(),
                _ => machine.update(2),
            });
        }
        let applied = store.accepts(writes).await?;
        ends.extend(applied.last.last());
        let again = machines[0].clone().create();
        let reason = Rejected::AlreadyStored(again.row.id);
        store.rejects(again, reason).await?;
    }
    Ok(ends)
}

/// Answered batches cannot share a transaction with later ones, so each must end with a chain.
async fn recompute(store: &Subject, key: &DigestKey, ends: &[u64]) -> Result<(), String> {
    let mut previous = Digest::ZERO;
    let mut lines: Vec<Digest> = Vec::new();
    for entry in store.journal(usize::MAX).await? {
        let seq = entry.seq;
        let line = entry.line.map_err(|broken| format!("entry {seq} is {broken:?}"))?;
        lines.push(line.digest);
        if !ends.contains(&seq) {
            ensure!(entry.chain.is_none(), "entry {seq} has a chain inside of its transaction");
            continue;
        }
        let mut parts = vec![previous.bytes().as_slice()];
        parts.extend(lines.iter().map(|digest| digest.bytes().as_slice()));
        let expected = key.digest(&parts);
        ensure!(entry.chain == Some(expected), "the chain on entry {seq} is {:?}", entry.chain);
        previous = expected;
        lines.clear();
    }
    ensure!(lines.is_empty(), "the last transaction has no chain");
    Ok(())
}
