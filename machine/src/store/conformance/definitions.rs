//! Definitions come back as they were written, each once.

use super::prelude::*;

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    agree(&store, &[]).await?;
    let (mut execution, mut job) = (Machine::execution(), Machine::job());
    let (first, second) = (execution.definition.clone(), job.definition.clone());
    let copy = Arc::new((*first).clone());
    let definitions = vec![first.clone(), copy];
    store.accepts(WriteBatch { definitions, ..batch([execution.create()]) }).await?;
    agree(&store, &[&first]).await?;
    // A line may be written under a definition that its row no longer has.
    let writes = [[execution.update(1), job.create()], [job.update(1), execution.update(1)]];
    for writes in writes {
        let definitions = vec![second.clone(), first.clone()];
        store.accepts(WriteBatch { definitions, ..batch(writes) }).await?;
        agree(&store, &[&first, &second]).await?;
    }
    // A machine continues under a newer definition; its older lines keep theirs.
    execution.definition = second.clone();
    execution.row.definition = second.fingerprint;
    execution.row.machine = second.name.to_string();
    store.accepts(execution.update(2)).await?;
    store.agrees(&job).await?;
    store.agrees(&execution).await
}

async fn agree(store: &Subject, expected: &[&Arc<Definition>]) -> Kept {
    let definitions = store.0.definitions().await?.intact;
    let count = definitions.len();
    same!(store.0.newest_definition().await?, count as u64, "the number of the newest definition");
    ensure!(count == expected.len(), "{count} definitions, not {}", expected.len());
    for definition in expected {
        let name = &definition.name;
        let stored = definitions.iter().find(|it| it.fingerprint == definition.fingerprint);
        ensure!(stored.is_some_and(|it| it == *definition), "{name} is stored as {stored:#?}");
    }
    Ok(())
}
