//! Futures that are dropped before they complete: the same machine, committed again, or loaded,
//! gives a consistent result.

use std::{
    collections::BTreeSet,
    pin::pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use machine::{
    contract::{
        AnyExecution, Settled,
        execution::{Pending, Status},
    },
    effects::{Change, EffectError},
    store::{CommitError, Store},
    typed::State,
};
use machine_tests::{
    actors::{ann, tool_node},
    random::Random,
    samples::mail,
};

use crate::{
    machines::{AnyMeter, Meter, meter::Counting},
    support::{
        BEGUN, PARKED, applied, begun, block_on, closes_intact, history, new_file, options, stored,
    },
};

/// The number of times that each kind of operation is cancelled.
const TIMES: usize = 150;

/// Polls the future a few times, with random pauses, and drops it. Returns what it returned.
fn cancel<T>(random: &mut Random, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..random.below(6) {
        if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
            return Some(result);
        }
        if random.percent(50) {
            std::thread::sleep(Duration::from_micros(random.number() % 3000));
        }
    }
    None
}

/// Runs a test on a new file.
fn on_a_file(name: &str, test: impl AsyncFnOnce(&Store, &mut Random)) {
    let (_folder, file) = new_file();
    block_on(async {
        let store = options().sqlite(&file).await.unwrap();
        test(&store, &mut Random::of(name)).await;
        closes_intact(&store, &file).await;
    });
}

/// Created again, alone or with another machine.
#[test]
fn a_cancelled_batch_can_be_repeated() {
    on_a_file("a_cancelled_batch_can_be_repeated", async |store, random| {
        let mut meter = Meter::new().add("0".to_owned());
        store.create(&mut meter).await.unwrap();
        for round in 1..=TIMES {
            meter = meter.add(round.to_string());
            let mut new = Meter::new().add("one".to_owned());
            let batch = store.batch().create(&mut new).commit(&mut meter);
            if let Some(result) = cancel(random, batch.write()) {
                result.unwrap();
            } else {
                let batch = store.batch().create(&mut new).commit(&mut meter);
                batch.write().await.unwrap();
            }
            assert_eq!(history(store, new.id()).await, ["created", "add one"]);
            assert_eq!(store.load::<AnyMeter>(new.id()).await.unwrap().journal().version(), 2);
        }
        assert_eq!(history(store, meter.id()).await.len(), TIMES + 2);
    });
}

/// Loaded again: the entry is there or not, and a machine that was loaded too early gets a
/// conflict.
#[test]
fn after_a_cancelled_commit_the_machine_can_be_loaded() {
    let name = "after_a_cancelled_commit_the_machine_can_be_loaded";
    on_a_file(name, async |store, random| {
        let mut meter = Meter::new().add("0".to_owned());
        let id = meter.id();
        store.create(&mut meter).await.unwrap();
        let mut certain = vec!["add 0".to_owned()];
        let mut cancelled = Vec::new();
        for round in 1..=TIMES {
            meter = meter.add(format!("cancelled {round}"));
            match cancel(random, store.commit(&mut meter)) {
                Some(result) => {
                    result.unwrap();
                    certain.push(format!("add cancelled {round}"));
                }
                None => cancelled.push(format!("add cancelled {round}")),
            }
            loop {
                meter = store.resume::<Counting>(id).await.unwrap().add(round.to_string());
                match store.commit(&mut meter).await {
                    Ok(()) => break,
                    Err(EffectError::Commit(CommitError::Conflict { .. })) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            certain.push(format!("add {round}"));
        }
        let found = history(store, id).await;
        let there: BTreeSet<_> = found.iter().collect();
        assert_eq!(there.len(), found.len(), "an entry is there twice: {found:?}");
        let acknowledged: Vec<_> =
            found[1..].iter().filter(|entry| !cancelled.contains(entry)).collect();
        assert_eq!(acknowledged, certain.iter().collect::<Vec<_>>());
    });
}

/// A begin that was cancelled can be repeated with the same [`Change`], and gives one permit.
#[test]
fn a_cancelled_begin_can_be_repeated() {
    on_a_file("a_cancelled_begin_can_be_repeated", async |store, random| {
        for round in 0..TIMES / 3 {
            let pending = stored(store, mail(&format!("person {round}"))).await;
            let id = pending.id();
            let mut begin = Change::begin(pending.into(), tool_node());
            let done = cancel(random, store.batch().change(&mut begin).write());
            if done.is_none() {
                store.batch().change(&mut begin).write().await.unwrap();
            }
            let (running, permit) = begin.finish().unwrap();
            assert_eq!(history(store, id).await[1..], BEGUN);
            assert!(!permit.token().to_string().ends_with("-00000000000000000000"));
            let outcome = applied(permit, "sent").await;
            let mut settle = Change::settle(running, outcome, tool_node());
            let done = cancel(random, store.batch().change(&mut settle).write());
            if done.is_none() {
                store.batch().change(&mut settle).write().await.unwrap();
            }
            assert!(matches!(settle.finish(), Ok(Settled::Completed(_))));
            assert_eq!(history(store, id).await[4..], ["applied sent", "succeed sent"]);
        }
    });
}

/// A begin that is dropped with everything leaves the execution as it was, or in doubt.
#[test]
fn after_a_cancelled_begin_it_is_pending_or_in_doubt() {
    let name = "after_a_cancelled_begin_it_is_pending_or_in_doubt";
    on_a_file(name, async |store, random| {
        for round in 0..TIMES / 3 {
            let pending = stored(store, mail(&format!("person {round}"))).await;
            let id = pending.id();
            drop(cancel(random, store.begin(pending, tool_node())));
            loop {
                let found = store.load::<AnyExecution>(id).await.unwrap();
                match Pending::narrow(found) {
                    Ok(pending) => match store.begin(pending, tool_node()).await {
                        Ok((running, permit)) => {
                            let outcome = applied(permit, "sent").await;
                            let _ = store.settle(running, outcome, tool_node()).await.unwrap();
                            break;
                        }
                        // The first one was still on its way.
                        Err(refused) => {
                            assert!(matches!(
                                refused.reason,
                                EffectError::Commit(CommitError::Conflict { .. })
                            ));
                        }
                    },
                    Err(running) => {
                        assert_eq!(running.status(), Status::Running);
                        let mut found = store.recover().await.unwrap().in_doubt;
                        assert_eq!(found.len(), 1);
                        let doubt = found.remove(0);
                        assert_eq!(history(store, id).await[4..], PARKED);
                        let _ = store.confirm_applied(doubt, "sent", ann()).await.unwrap();
                        break;
                    }
                }
            }
            let found = history(store, id).await;
            let sent = found.iter().filter(|entry| entry.ends_with("applied sent")).count();
            assert_eq!(sent, 1, "{found:?}");
        }
    });
}

/// A settle that is dropped with everything is recorded, or its receipt is, and settles it.
#[test]
fn after_a_cancelled_settle_the_receipt_is_kept() {
    let name = "after_a_cancelled_settle_the_receipt_is_kept";
    on_a_file(name, async |store, random| {
        for round in 0..TIMES / 3 {
            let (running, permit) = begun(store, mail(&format!("person {round}"))).await;
            let id = running.id();
            let outcome = applied(permit, "sent").await;
            drop(cancel(random, store.settle(running, outcome, tool_node())));
            // Recovering may come before or after a commit that is still on its way.
            let found = loop {
                let found = history(store, id).await;
                if found.iter().any(|entry| entry == "succeed sent") {
                    break found;
                }
                store.recover().await.unwrap();
                tokio::task::yield_now().await;
            };
            let ended = found.iter().filter(|entry| *entry == "succeed sent").count();
            assert_eq!(ended, 1, "{found:?}");
        }
    });
}
