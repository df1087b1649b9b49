//! A record is written with the rest of its batch, on the version before. It is found by its id,
//! and in its list.

use super::prelude::*;

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    let mut machine = Machine::job();
    let ids = [(); 4].map(|()| Id::fresh());
    let mut model: Vec<Record> = ids.iter().map(|id| record("turn", *id)).collect();
    model[1].list = Some("b".to_owned());
    // The kinds have lists and ids of their own.
    model.push(record("card", ids[0]));
    let (first, rest) = (vec![model[0].clone()], model[1..].to_vec());
    store.accepts(WriteBatch { records: first, ..batch([machine.create()]) }).await?;
    writes(&store, rest).await?;
    agrees(&store, &model).await?;

    // Neither an older version, nor one that comes too early, nor one that is written twice.
    model[0] =
        Record { version: 2, list: None, body: "no\0 \u{1f980}".to_owned(), ..model[0].clone() };
    writes(&store, vec![model[0].clone()]).await?;
    model[2] = Record { version: 2, list: Some("b".to_owned()), ..model[2].clone() };
    writes(&store, vec![model[2].clone()]).await?;
    agrees(&store, &model).await?;
    let next = Record { version: 3, ..model[0].clone() };
    let refused = [
        vec![record("turn", ids[0])],
        vec![model[0].clone()],
        vec![Record { version: 4, ..next.clone() }],
        vec![Record { version: 0, ..next.clone() }],
        vec![next.clone(), next.clone()],
        vec![next.clone(), Record { version: 4, ..next.clone() }],
    ];
    for records in refused {
        let good = record("turn", Id::fresh());
        let records = [vec![good], records].concat();
        let writes = WriteBatch { records, ..batch([machine.clone().update(1)]) };
        store.rejects(writes, CommitError::Conflict { id: ids[0] }).await?;
    }
    let unknown = Record { version: 2, ..record("turn", Id::fresh()) };
    let id = unknown.id;
    store
        .rejects(WriteBatch { records: vec![unknown], ..batch([]) }, CommitError::Conflict { id })
        .await?;

    // Nor one whose batch is rejected for another reason.
    let records = || vec![next.clone()];
    let stale = WriteBatch { records: records(), ..batch([machine.stale()]) };
    store.rejects(stale, CommitError::Conflict { id: machine.id() }).await?;
    store.accepts(WriteBatch { records: records(), ..batch([machine.update(1)]) }).await?;
    model[0] = next;
    agrees(&store, &model).await?;
    one_of_many_wins(&store, &model[3]).await
}

/// Of many writers that start from the same version at the same time, one succeeds.
async fn one_of_many_wins(store: &Subject, record: &Record) -> Kept {
    let mut answers = Vec::new();
    for number in 0..20_u32 {
        let version = record.version + 1;
        let records = vec![Record { version, body: number.to_string(), ..record.clone() }];
        let answer = store.0.apply(WriteBatch { records, ..batch([]) });
        answers.push((number, started(answer).await));
    }
    let mut winners: Vec<String> = Vec::new();
    for (number, answer) in answers {
        match answer.await? {
            Ok(_) => winners.push(number.to_string()),
            Err(rejected) => same!(
                rejected,
                Rejected::Commit(CommitError::Conflict { id: record.id }),
                "a second writer"
            ),
        }
    }
    let found = store.records(Records::Of(vec![("turn", record.id)])).await?;
    let bodies: Vec<String> = found.into_iter().map(|it| it.body).collect();
    same!(bodies, winners, "the record, and who wrote it");
    Ok(())
}

fn record(kind: &str, id: Id) -> Record {
    let (list, body) = (Some("a".to_owned()), format!("{{\"of\": \"{id}\"}}"));
    Record { kind: kind.to_owned(), id, version: 1, list, body }
}

async fn writes(store: &Subject, records: Vec<Record>) -> Kept {
    store.accepts(WriteBatch { records, ..batch([]) }).await.map(drop)
}

/// Compares what is stored to the model, in every way to read it.
async fn agrees(store: &Subject, model: &[Record]) -> Kept {
    same!(store.records(Records::All).await?, model, "the records");
    let key_of = |it: &Record| (if it.kind == "turn" { "turn" } else { "card" }, it.id);
    let mut keys: Vec<(&'static str, Id)> = model.iter().map(key_of).collect();
    keys.reverse();
    keys.insert(0, ("turn", Id::fresh()));
    let mut found = store.records(Records::Of(keys)).await?;
    found.reverse();
    same!(found, model, "the records, by kind and id");
    for kind in ["turn", "card"] {
        let of_kind: Vec<&Record> = model.iter().filter(|it| it.kind == kind).collect();
        for list in ["a", "b", "c"] {
            // Also after a record that is in no list any more, or in another one.
            let cursors = [None].into_iter().chain(of_kind.iter().map(|it| Some(it.id)));
            let limits = [0, 1, 2, usize::MAX];
            for (before, after) in cursors.enumerate() {
                let listed = of_kind[before..].iter().copied();
                let listed = listed.filter(|it| it.list.as_deref() == Some(list));
                for limit in limits {
                    let list = list.to_owned();
                    let found = store.records(Records::Listed { kind, list, after, limit }).await?;
                    let expected: Vec<&Record> = listed.clone().take(limit).collect();
                    let found: Vec<&Record> = found.iter().collect();
                    same!(found, expected, "`{kind}` after {before}, at most {limit}");
                }
            }
        }
    }
    Ok(())
}
