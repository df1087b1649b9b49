//! The operator log keeps who did what, in order, each with its outcome, whatever is pruned.

use super::prelude::*;
use crate::store::operation::Operation;

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    pages(&store, &[]).await?;
    let mut model = Vec::new();
    let outcomes = ["begun", "done", "", "refused: it is not pending"];
    for (number, outcome) in (1..=7).zip(outcomes.into_iter().cycle()) {
        let operation = operation(number, outcome);
        let log = vec![operation.clone()];
        store.accepts(WriteBatch { log, now: NOW, ..batch([]) }).await?;
        model.push(operation.numbered(number, NOW));
        pages(&store, &model).await?;
    }
    of_events(&store, &mut model).await?;

    // Changes to machines leave the log as it is.
    let (mut old, mut new) = (Machine::job(), Machine::job());
    store.accepts(old.create()).await?;
    store.accepts(old.end()).await?;
    store.accepts(new.create()).await?;
    let prune = vec![Candidate { id: old.id(), version: old.row.version }];
    let applied = store.accepts(WriteBatch { prune, ..batch([]) }).await?;
    ensure!(applied.pruned.iter().all(Option::is_some), "kept: {:?}", applied.pruned);
    pages(&store, &model).await
}

/// An event that achieves nothing is refused together with its record.
async fn of_events(store: &Subject, model: &mut Vec<Operation>) -> Kept {
    let mut machine = Machine::job();
    store.accepts(machine.create()).await?;
    let id = machine.id();
    let operation = operation(8, "done");
    let sends = |name: &str| {
        let log = vec![operation.clone()];
        WriteBatch { log, now: NOW, ..events(id, [send(name)]) }
    };
    store.accepts(sends("a")).await?;
    model.push(operation.clone().numbered(8, NOW));
    pages(store, model).await?;
    let refused = |refusal| Rejected::Refused { id, refusal };
    store.rejects(sends("a"), refused(EventRefusal::Duplicate)).await?;
    store.accepts(machine.end()).await?;
    store.rejects(sends("b"), refused(EventRefusal::Ended)).await?;
    pages(store, model).await
}

fn operation(number: u64, outcome: &str) -> Operation {
    Operation {
        number: 0,
        at: 0,
        by: "ann@example.com".to_owned(),
        via: ["cli", "http"][usize::from(number.is_multiple_of(2))].to_owned(),
        operation: "approve".to_owned(),
        machines: (0..number % 4).map(|_| Id::fresh()).collect(),
        detail: format!("é {number}'"),
        outcome: Some(outcome.to_owned()),
    }
}

/// Compares the log to the model, at several page sizes.
async fn pages(store: &Subject, model: &[Operation]) -> Kept {
    for limit in [1, 3, usize::MAX] {
        let (mut found, mut before) = (Vec::new(), None);
        for _ in 0..=model.len() {
            let page = store.0.operations(before, limit).await?;
            ensure!(page.len() <= limit, "a page of {limit} operations has {}", page.len());
            let Some((last, _)) = page.last() else { break };
            before = Some(*last);
            for (number, operation) in page {
                let operation =
                    operation.map_err(|broken| format!("operation {number} is {broken:?}"))?;
                same!(operation.number, number, "the number of an operation");
                found.push(operation);
            }
        }
        found.reverse();
        same!(found, model, "the log, {limit} at a time");
    }
    for (before, expected) in [(Some(0), 0), (Some(1), 0), (Some(u64::MAX), model.len())] {
        let count = store.0.operations(before, usize::MAX).await?.len();
        same!(count, expected, "the number of operations before {before:?}");
    }
    Ok(())
}
