//! A worker is known from when it joins until it leaves, by what it said last.

use super::{
    Open, ensure,
    sample::commit,
    subject::{Subject, text},
};
use crate::{
    id::Id,
    store::backend::{Batch, Crew, Registered},
};

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    are_known(&store, &[]).await?;
    let mut crew: Vec<_> = ["a", "b", "b"]
        .into_iter()
        .map(|name| {
            let body = format!("{{\"of\": \"{name}\"}}");
            Registered { id: Id::fresh(), name: name.to_owned(), body }
        })
        .collect();
    for worker in &crew {
        changes(&store, Crew::Joins(worker.clone())).await?;
    }
    are_known(&store, &crew).await?;
    // It says more.
    crew[1].body = "no\0 \u{1f980}".to_owned();
    changes(&store, Crew::Joins(crew[1].clone())).await?;
    are_known(&store, &crew).await?;
    changes(&store, Crew::Leave(vec![crew[0].id, crew[2].id, Id::fresh()])).await?;
    are_known(&store, &crew[1..2]).await?;

    let drives = vec!["job".to_owned(), "execution".to_owned(), "job".to_owned()];
    store.accepts(Batch { drives, ..commit(vec![], vec![]) }).await?;
    let driven = store.0.driven().await.map_err(text)?;
    ensure!(driven == ["job", "execution"], "{driven:?} are driven");
    are_known(&store, &crew[1..2]).await
}

async fn changes(store: &Subject, crew: Crew) -> Result<(), String> {
    let crew = Some(crew);
    store.accepts(Batch { crew, ..commit(vec![], vec![]) }).await.map(drop)
}

async fn are_known(store: &Subject, expected: &[Registered]) -> Result<(), String> {
    let found = store.0.workers().await.map_err(text)?;
    ensure!(found == expected, "{found:?} are known, not {expected:?}");
    Ok(())
}
