//! Damaged files give a typed error, never a panic.

use std::{
    fs,
    path::{Path, PathBuf},
};

use machine::{
    contract::AnyExecution,
    store::{LoadError, OpenError, Query, Store},
};
use machine_tests::samples::{asked, read};
use tempfile::TempDir;

use crate::store::support::Place;

/// An intact, closed database with some machines, and their ids.
async fn whole() -> (TempDir, PathBuf, Vec<machine::Id>) {
    let place = Place::new().await;
    let mut ids = Vec::new();
    for number in 0..20 {
        ids.push(place.stored(read(&format!("{number}.txt"))).await.id());
    }
    ids.push(place.created(asked("Deploy?")).await.id());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("copy.db");
    place.raw().execute("VACUUM INTO ?1", [file.to_str().unwrap()]).unwrap();
    (folder, file, ids)
}

/// Opens a possibly damaged file and reads it in every way; returns how many machines load. Fails
/// if the file cannot be opened or listed.
async fn read_all(file: &Path, ids: &[machine::Id]) -> Result<usize, OpenError> {
    let store = Store::sqlite(file).await?;
    match store.list(&Query::new()).await {
        Ok(_) => {}
        Err(LoadError::Unavailable(error)) => return Err(error.into()),
        Err(other) => panic!("{other:?}"),
    }
    // Whatever they say, they say it without a panic.
    let _ = (store.verify_all(|_| {}).await, store.position().await, store.recover().await);
    let mut sound = 0;
    for id in ids {
        if let Ok(machine) = store.load::<AnyExecution>(*id).await {
            assert_eq!(machine.id(), *id);
            sound += 1;
        }
    }
    Ok(sound)
}

/// A file truncated at any point is refused when it is opened or read. Nothing panics, and no
/// damaged machine loads.
#[tokio::test]
async fn a_truncated_file_is_refused() {
    let (_folder, file, ids) = whole().await;
    let bytes = fs::read(&file).unwrap();
    assert_eq!(read_all(&file, &ids).await.unwrap(), ids.len());
    for (case, length) in
        [1, 50, 100, 512, 4095, 4096, 5000, 8192, bytes.len() / 2, bytes.len() - 1]
            .into_iter()
            .enumerate()
    {
        let cut = file.with_file_name(format!("cut-{case}.db"));
        fs::write(&cut, &bytes[..length]).unwrap();
        let read = read_all(&cut, &ids).await;
        assert!(read.is_err() || read.is_ok_and(|sound| sound < ids.len()), "length {length}");
    }
}

/// With a page overwritten, every machine that loads is intact.
#[tokio::test]
async fn a_corrupted_page_is_refused() {
    let (_folder, file, ids) = whole().await;
    let bytes = fs::read(&file).unwrap();
    for page in 0..bytes.len() / 4096 {
        let mut broken = bytes.clone();
        broken[page * 4096..(page + 1) * 4096].fill(0xa5);
        let path = file.with_file_name(format!("broken-{page}.db"));
        fs::write(&path, &broken).unwrap();
        match read_all(&path, &ids).await {
            Err(
                OpenError::NotADatabase { .. }
                | OpenError::Damaged { .. }
                | OpenError::Unavailable(_),
            ) => {}
            Err(other) => panic!("page {page}: {other:?}"),
            // A page that only an index uses, or an unused page.
            Ok(sound) => assert!(sound <= ids.len(), "page {page}"),
        }
    }
}
