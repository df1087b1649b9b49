//! Lines come back in the order in which they were written, numbered without gaps.

use super::prelude::*;
use crate::journal::EntryKind;

const SEED: u64 = 2;

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    let (machines, written) = fill(&store).await?;

    for page in (1..=written.len() + 1).chain([usize::MAX]) {
        let mut read = Vec::new();
        for (seq, entry) in (1..).zip(store.journal(page).await?) {
            ensure!(entry.seq == seq, "entry {seq} has number {}", entry.seq);
            let line = entry.line.map_err(|broken| format!("entry {seq} is {broken:?}"))?;
            let id = entry.id.ok_or_else(|| format!("entry {seq} belongs to no machine"))?;
            read.push((id, line));
        }
        ensure!(read == written, "in pages of {page}: read {read:#?}, wrote {written:#?}");
    }
    let newest = store.newest().await?;
    ensure!(newest == written.len() as u64, "the newest number is {newest}");
    for after in [newest, newest + 1, u64::MAX] {
        let entries = store.0.entries(after, 10).await?;
        ensure!(entries.is_empty(), "entries after {after}, the newest being {newest}");
    }
    ensure!(store.0.entries(0, 0).await?.is_empty(), "a page of 0 entries is not empty");
    for machine in &machines {
        histories(&store, machine).await?;
    }
    let missing = store.history(Id::fresh()).await?;
    ensure!(missing.is_empty(), "a machine that does not exist has lines: {missing:#?}");
    Ok(())
}

/// Every page of a machine's history.
async fn histories(store: &Subject, machine: &Machine) -> Result<(), String> {
    let lines = &machine.lines;
    for from in 0..lines.len() + 2 {
        for limit in (0..lines.len() + 2).chain([usize::MAX]) {
            let page = store.history_page(machine.id(), from as u64, limit).await?;
            let expected: Vec<_> = lines.iter().skip(from).take(limit).cloned().collect();
            ensure!(
                page == expected,
                "{limit} lines from {from} on: read {page:#?}, wrote {expected:#?}"
            );
        }
    }
    for before in 0..=lines.len() {
        let moves = store.0.moves_before(machine.id(), before as u64).await?;
        let expected = lines[..before].iter().filter(|line| line.kind == EntryKind::Moved).count();
        ensure!(moves == expected as u64, "{moves} of {before} lines move it, not {expected}");
    }
    let page = store.history_page(machine.id(), u64::MAX, usize::MAX).await?;
    ensure!(page.is_empty(), "lines from u64::MAX on: {page:#?}");
    Ok(())
}

/// Batches of several machines and several lines, with rejected ones in between.
async fn fill(store: &Subject) -> Result<(Vec<Machine>, Vec<(Id, Line)>), String> {
    let mut random = Random::new(SEED);
    let mut machines: Vec<_> = (0..4).map(|_| Machine::execution()).collect();
    let mut written = Vec::new();
    for _ in 0..10 {
        let mut writes = Vec::new();
        for machine in &mut machines {
            let write = match machine.row.version {
                0 => machine.create(),
                _ if random.chance(2) => machine.update(1 + random.number() % 3),
                _ => continue,
            };
            written.extend(write.lines.iter().map(|line| (write.row.id, line.clone())));
            writes.push(write);
        }
        store.accepts(writes).await?;
        let again = machines[0].clone().create();
        let reason = Rejected::AlreadyStored(again.row.id);
        store.rejects(again, reason).await?;
    }
    Ok((machines, written))
}
