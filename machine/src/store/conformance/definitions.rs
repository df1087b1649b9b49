//! Definitions come back as they were written, each once.

use super::prelude::*;

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    let none = store.definitions().await?;
    ensure!(none.is_empty(), "an empty store has definitions: {none:#?}");

    let (mut execution, mut job) = (Machine::execution(), Machine::job());
    let (first, second) = (execution.definition.clone(), job.definition.clone());
    let copy = Arc::new((*first).clone());
    let definitions = vec![first.clone(), copy];
    store.accepts(WriteBatch { definitions, ..batch([execution.create()]) }).await?;
    agree(&store, &[&first]).await?;
    // A line may be written under a definition that its row no longer has.
    let both = || vec![second.clone(), first.clone()];
    let writes = [execution.update(1), job.create()];
    store.accepts(WriteBatch { definitions: both(), ..batch(writes) }).await?;
    agree(&store, &[&first, &second]).await?;
    store.accepts(WriteBatch { definitions: both(), ..batch([job.update(1)]) }).await?;
    agree(&store, &[&first, &second]).await?;
    for machine in [&execution, &job] {
        store.agrees(machine).await?;
    }
    moved_to_another(&store, execution, &second).await
}

async fn agree(store: &Subject, expected: &[&Arc<Definition>]) -> Result<(), String> {
    let definitions = store.definitions().await?;
    let count = definitions.len();
    let newest = store.0.newest_definition().await?;
    ensure!(newest == count as u64, "the newest of {count} definitions has the number {newest}");
    ensure!(count == expected.len(), "{count} definitions, not {}", expected.len());
    for definition in expected {
        let name = &definition.name;
        let stored = definitions.iter().find(|it| it.fingerprint == definition.fingerprint);
        ensure!(stored.is_some_and(|it| it == *definition), "{name} is stored as {stored:#?}");
    }
    Ok(())
}

/// A machine continues under a newer definition; its older lines keep theirs.
async fn moved_to_another(
    store: &Subject,
    mut machine: Machine,
    newer: &Arc<Definition>,
) -> Result<(), String> {
    machine.definition = newer.clone();
    machine.row.definition = newer.fingerprint;
    machine.row.machine = newer.name.to_string();
    store.accepts(machine.update(2)).await?;
    store.agrees(&machine).await
}
