//! The last line of each transaction covers every line so far.

use super::prelude::*;
use crate::{journal::DigestKey, store::upkeep::pruning::Link};

pub(super) async fn check(open: &Open<'_>) -> Kept {
    for key in [settings().key, DigestKey::default()] {
        let store = Subject(open(StoreSettings { key, ..settings() }));
        let ends = fill(&store, key).await?;
        let chain = store.chain(&key).await?;
        // Answered batches cannot share a transaction with later ones.
        let covered = chain.iter().filter_map(|(seq, _, chain)| chain.map(|_| *seq));
        same!(covered.collect::<Vec<_>>(), ends, "the lines with a chain");
        let mut read = Vec::new();
        for entry in store.journal(usize::MAX).await? {
            let line = entry.line.map_err(|broken| format!("a line is {broken:?}"))?;
            read.push((entry.seq, line.digest, entry.chain));
        }
        same!(read, chain, "the journal");
    }
    Ok(())
}

/// Commits one batch after the other; returns the number of the last line of each.
async fn fill(store: &Subject, key: DigestKey) -> Kept<Vec<u64>> {
    let mut machines = [(); 3].map(|()| Machine { key, ..Machine::execution() });
    let mut ends = Vec::new();
    for round in 0..5 {
        let writes: Vec<_> = machines[..=round % 3].iter_mut().map(|it| it.write(2)).collect();
        ends.extend(store.accepts(writes).await?.last.last());
        let again = machines[0].clone().create();
        store.rejects(again, CommitError::AlreadyStored { id: machines[0].id() }).await?;
    }
    Ok(ends)
}

impl Subject {
    /// Every digest of the chain, which must be whole.
    pub(super) async fn chain(&self, key: &DigestKey) -> Kept<Vec<(u64, Digest, Option<Digest>)>> {
        let mut all: Vec<(u64, Digest, Option<Digest>)> = Vec::new();
        loop {
            let after = all.last().map_or(0, |(seq, ..)| *seq);
            let links = self.0.links(after, 2).await?;
            if links.is_empty() {
                break;
            }
            for link in links {
                let seq = link.seq();
                let digests = match link {
                    Link::Line(line) => line.line.map(|it| (it.digest, line.chain)),
                    Link::Pruned(_, line) => line.map(|it| (it.digest, it.chain)),
                };
                let (digest, chain) =
                    digests.map_err(|broken| format!("entry {seq} is {broken:?}"))?;
                ensure!(seq == all.len() as u64 + 1, "link {seq} comes after {after}");
                all.push((seq, digest, chain));
            }
        }
        let (mut previous, mut digests) = (Digest::ZERO, Vec::new());
        for (seq, digest, chain) in &all {
            digests.push(digest);
            let Some(chain) = chain else { continue };
            let mut parts = vec![previous.bytes().as_slice()];
            parts.extend(digests.iter().map(|digest| digest.bytes().as_slice()));
            same!(*chain, key.digest(&parts), "the chain on entry {seq}");
            (previous, digests) = (*chain, Vec::new());
        }
        ensure!(digests.is_empty(), "the chain does not cover the last {}", digests.len());
        Ok(all)
    }
}
