//! A row comes back byte for byte, with the context that updates leave out.

use super::prelude::*;

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    for (number, text) in texts().into_iter().enumerate() {
        let mut machine = Machine::execution().with_key(&text);
        machine.row.context = Some(Arc::from(text.as_str()));
        machine.row.session = Some(text.clone());
        machine.row.behind = Some(Id::fresh());
        let mut write = machine.create();
        for round in 0..3_u8 {
            write.row = Row {
                state: text.clone(),
                summary: format!("{{\"round\":{round},\"text\":{text}}}"),
                seal: Digest::of(&[text.as_bytes(), &[round]]),
                epoch: u64::from(round) * 1000,
                due_at: [None, Some(i64::MIN), Some(i64::MAX)][usize::from(round)],
                updated_at: [0, -1, i64::MAX][usize::from(round)],
                ..write.row
            };
            machine.row = Row { context: machine.row.context.take(), ..write.row.clone() };
            let batch = batch([write]);
            let commit_id = batch.commit_id;
            store.accepts(batch).await?;
            store.agrees(&machine).await.map_err(|wrong| format!("text {number}: {wrong}"))?;
            same!(store.row(machine.id()).await?.0.commit_id, commit_id, "the commit id");
            machine.row.updated_at = 0;
            write = machine.update(u64::from(round));
        }
    }
    in_this_order(&store).await
}

/// JSON texts that a backend might be tempted to change.
fn texts() -> [String; 8] {
    let long = format!("\"{}\"", "long ".repeat(50_000));
    [
        "{}",
        "null",
        "\"\"",
        "{ \"b\" : 1,\n\t\"a\":[ ] }",
        "{\"a\":1,\"a\":2}",
        "[1.0,1e400,0.1,18446744073709551616,-0]",
        "\"na\u{ef}ve \u{1f980} \\u0000 'quoted'\"",
        long.as_str(),
    ]
    .map(String::from)
}

/// Rows come in the order of the ids, also those that are missing or asked for twice.
async fn in_this_order(store: &Subject) -> Kept {
    let (mut first, mut second) = (Machine::execution(), Machine::execution());
    store.creates([&mut first, &mut second]).await?;
    let ids = [second.id(), Id::fresh(), first.id(), second.id()];
    let read: Vec<_> = store
        .0
        .rows(ids.to_vec())
        .await?
        .iter()
        .map(|found| (found.id(), matches!(found, FoundRow::Row(..))))
        .collect();
    let expected = [(ids[0], true), (ids[1], false), (ids[2], true), (ids[3], true)];
    same!(read, expected.map(|(id, is_there)| (Some(id), is_there)), "the rows");
    let none = store.0.rows(Vec::new()).await?;
    ensure!(none.is_empty(), "no ids have rows: {none:#?}");
    fixed_at_creation(store, first).await
}

/// An update cannot change what is fixed at creation.
async fn fixed_at_creation(store: &Subject, mut machine: Machine) -> Kept {
    let mut write = machine.update(1);
    write.row.session = Some(String::from("another"));
    write.row.key = Some(String::from("another"));
    write.row.behind = Some(Id::fresh());
    write.row.created_at += 1;
    store.accepts(write).await?;
    store.agrees(&machine).await?;
    // A context can be replaced.
    let mut write = machine.update(1);
    write.row.context = Some(Arc::from("{\"another\":1}"));
    machine.row.context.clone_from(&write.row.context);
    store.accepts(write).await?;
    store.agrees(&machine).await
}
