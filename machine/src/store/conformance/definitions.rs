//! Definitions come back as they were written, each once.

use std::sync::Arc;

use super::{
    Open, ensure,
    sample::{Machine, commit},
    subject::Subject,
};
use crate::definition::Definition;

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    let none = store.definitions().await?;
    ensure!(none.is_empty(), "an empty store has definitions: {none:#?}");

    let (mut execution, mut job) = (Machine::execution(), Machine::job());
    let (first, second) = (execution.definition.clone(), job.definition.clone());
    let copy = Arc::new((*first).clone());
    store.accepts(commit(vec![first.clone(), copy], vec![execution.create()])).await?;
    agree(&store, &[&first]).await?;
    // A line may be written under a definition that its row no longer has.
    let both = vec![second.clone(), first.clone()];
    store.accepts(commit(both.clone(), vec![execution.update(1), job.create()])).await?;
    agree(&store, &[&first, &second]).await?;
    store.accepts(commit(both, vec![job.update(1)])).await?;
    agree(&store, &[&first, &second]).await?;
    for machine in [&execution, &job] {
        store.agrees(machine).await?;
    }
    moved_to_another(&store, execution, &second).await
}

async fn agree(store: &Subject, expected: &[&Arc<Definition>]) -> Result<(), String> {
    let definitions = store.definitions().await?;
    let count = definitions.len();
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
    let write = machine.update(2);
    store.accepts(commit(vec![newer.clone()], vec![write])).await?;
    store.agrees(&machine).await
}
