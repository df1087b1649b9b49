//! A store is closed while others use it, and its file is copied.

use std::{collections::BTreeMap, sync::Arc};

use machine::{
    Id,
    effects::EffectError,
    store::{Store, Unavailable},
};
use machine_tests::random::Random;

use crate::{
    machines::Meter,
    support::{block_on, has_exactly, new_file, options},
};

const TASKS: usize = 8;

/// Commits until the store has stopped. Returns the versions that were acknowledged.
async fn commits_until_stopped(store: Arc<Store>, mut random: Random) -> BTreeMap<Id, u64> {
    let mut acknowledged = BTreeMap::new();
    let stopped =
        |error: &EffectError| matches!(error, EffectError::Unavailable(Unavailable::Stopped));
    loop {
        let mut meter = Meter::new().add("0".to_owned());
        match store.create(&mut meter).await {
            Ok(()) => acknowledged.insert(meter.id(), 2),
            Err(error) if stopped(&error) => return acknowledged,
            Err(error) => panic!("{error}"),
        };
        for round in 1..random.below(30) {
            meter = meter.add(round.to_string());
            match store.commit(&mut meter).await {
                Ok(()) => acknowledged.insert(meter.id(), meter.journal().version()),
                Err(error) if stopped(&error) => return acknowledged,
                Err(error) => panic!("{error}"),
            };
        }
    }
}

/// Each commit gets an answer; what was done is in the file alone, without its log.
#[test]
fn a_copied_file_has_all_commits() {
    let mut random = Random::of("a_copied_file_has_all_commits");
    for _ in 0..10 {
        let (folder, file) = new_file();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build();
        let acknowledged = runtime.unwrap().block_on(async {
            let store = Arc::new(options().sqlite(&file).await.unwrap());
            let mut tasks = tokio::task::JoinSet::new();
            for _ in 0..TASKS {
                let random = Random::new(random.number());
                tasks.spawn(commits_until_stopped(Arc::clone(&store), random));
            }
            tokio::time::sleep(std::time::Duration::from_millis(random.number() % 150)).await;
            // Several callers may close at once.
            let (one, other) = tokio::join!(store.close(), store.close());
            one.unwrap();
            other.unwrap();
            // From here on nothing changes the file, and there is no other one.
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
            std::fs::copy(&file, file.with_extension("copy")).unwrap();
            let mut acknowledged = BTreeMap::new();
            while let Some(task) = tasks.join_next().await {
                acknowledged.extend(task.unwrap());
            }
            acknowledged
        });
        // A commit without success was not written.
        block_on(has_exactly(&file.with_extension("copy"), &acknowledged));
    }
}
