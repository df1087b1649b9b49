//! A worker is known from its join until it leaves, by its last announcement.

use super::prelude::*;
use crate::store::backend::{CrewChange, WorkerRow};

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    are_known(&store, &[]).await?;
    let mut crew = ["a", "b", "b"].map(|name| {
        let body = format!("{{\"of\": \"{name}\"}}");
        WorkerRow { id: Id::fresh(), name: name.to_owned(), body }
    });
    for worker in &crew {
        changes(&store, CrewChange::Put(worker.clone())).await?;
    }
    are_known(&store, &crew).await?;
    // It says more.
    crew[1].body = "no\0 \u{1f980}".to_owned();
    changes(&store, CrewChange::Put(crew[1].clone())).await?;
    are_known(&store, &crew).await?;
    changes(&store, CrewChange::Remove(vec![crew[0].id, crew[2].id, Id::fresh()])).await?;
    are_known(&store, &crew[1..2]).await?;

    store.drives(&["job", "execution", "job"]).await?;
    let driven = store.0.driven().await?;
    ensure!(driven == ["job", "execution"], "{driven:?} are driven");
    are_known(&store, &crew[1..2]).await
}

async fn changes(store: &Subject, crew: CrewChange) -> Kept {
    store.accepts(WriteBatch { crew: Some(crew), ..batch([]) }).await.map(drop)
}

async fn are_known(store: &Subject, expected: &[WorkerRow]) -> Kept {
    same!(store.0.workers().await?, expected, "the workers");
    Ok(())
}
