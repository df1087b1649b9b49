//! An acknowledged write can be read at once, by every kind of read.

use super::prelude::*;

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    ensure!(store.newest().await? == 0, "the newest number of an empty store is not 0");
    let mut machine = Machine::execution().with_key("k");
    for step in 0..5_u64 {
        let write = match step {
            0 => machine.create(),
            1 => machine.update(1).takes("k"),
            _ => machine.update(step),
        };
        let applied = store.accepts(write).await?;
        let last = applied.last[0];

        let newest = store.newest().await?;
        ensure!(newest == last, "the newest number is {newest} after {last} was answered");
        store.agrees(&machine).await.map_err(|wrong| format!("commit {step}: {wrong}"))?;
        let after = last - 1;
        let entries = store.0.entries(after, 1).await?;
        let seq = entries.first().map(|entry| entry.seq);
        ensure!(seq == Some(last), "commit {step}: the entry after {after} is {seq:?}");
        let rows = store.select(Filter { limit: 1, ..Filter::default() }).await?;
        let version = match rows.first() {
            Some((_, FoundRow::Row(row, _))) => Some(row.version),
            _ => None,
        };
        ensure!(version == Some(machine.row.version), "commit {step}: selected {rows:#?}");
        let open = store.attempts(Attempts::Unanswered).await?.len();
        ensure!(open == usize::from(step > 0), "commit {step}: {open} unanswered attempts");
        let definitions = store.definitions().await?;
        let known = definitions.iter().any(|known| **known == *machine.definition);
        ensure!(known, "commit {step}: the definition is not among {definitions:#?}");
    }
    Ok(())
}
