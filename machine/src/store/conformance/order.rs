//! Lines come back in the order in which they were written, numbered without gaps.

use super::prelude::*;
use crate::journal::EntryKind;

const SEED: u64 = 2;

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    let (machines, written) = fill(&store).await?;

    for page in (1..=written.len() + 1).chain([usize::MAX]) {
        let mut read = Vec::new();
        for entry in store.journal(page).await? {
            let line = entry.line.map_err(|broken| format!("a line is {broken:?}"))?;
            read.push((entry.seq, entry.id, line));
        }
        same!(read, written, "the journal in pages of {page}");
    }
    let newest = store.newest().await?;
    same!(newest, written.len() as u64, "the newest number");
    for (after, limit) in [(newest, 10), (newest + 1, 10), (u64::MAX, 10), (0, 0)] {
        let entries = store.0.entries(after, limit).await?;
        ensure!(entries.is_empty(), "{limit} entries after {after} of {newest} are {entries:#?}");
    }
    for machine in &machines {
        histories(&store, machine).await?;
    }
    same!(store.history(Id::fresh()).await?, [], "the lines of no machine");
    Ok(())
}

/// Every page of a machine's history.
async fn histories(store: &Subject, machine: &Machine) -> Kept {
    let (id, lines) = (machine.id(), &machine.lines);
    for from in 0..lines.len() + 2 {
        for limit in (0..lines.len() + 2).chain([usize::MAX]) {
            let expected: Vec<_> = lines.iter().skip(from).take(limit).cloned().collect();
            let page = store.history_page(id, from as u64, limit).await?;
            same!(page, expected, "{limit} lines from {from} on");
        }
    }
    same!(store.history_page(id, u64::MAX, usize::MAX).await?, [], "the lines from u64::MAX on");
    for before in 0..=lines.len() {
        let moves = store.0.moves_before(id, before as u64).await?;
        let expected = lines[..before].iter().filter(|line| line.kind == EntryKind::Moved).count();
        same!(moves, expected as u64, "the number of moves before line {before}");
    }
    Ok(())
}

/// Batches of several machines and several lines, with rejected ones in between.
async fn fill(store: &Subject) -> Kept<(Vec<Machine>, Vec<(u64, Option<Id>, Line)>)> {
    let mut random = Random::new(SEED);
    let mut machines: Vec<_> = (0..4).map(|_| Machine::execution()).collect();
    let mut written = Vec::new();
    for _ in 0..10 {
        let mut writes = Vec::new();
        for machine in &mut machines {
            if machine.row.version > 0 && !random.chance(2) {
                continue;
            }
            let write = machine.write(1 + random.number() % 3);
            for line in &write.lines {
                written.push((written.len() as u64 + 1, Some(write.row.id), line.clone()));
            }
            writes.push(write);
        }
        store.accepts(writes).await?;
        let again = machines[0].clone().create();
        store.rejects(again, CommitError::AlreadyStored { id: machines[0].id() }).await?;
    }
    Ok((machines, written))
}
