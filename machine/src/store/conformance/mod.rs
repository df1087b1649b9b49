//! The promises of every backend, one file per promise. A check returns the broken promise instead
//! of panicking, so that the suite itself can be tested: on backends with one defect each.
//!
//! To add a backend, add a test below; the opener makes a fresh, empty store at each call.

#![allow(clippy::unwrap_used)]

mod all_or_nothing;
mod attempts_stay;
mod calls;
mod chain;
mod children;
mod closed;
mod commit_id;
mod compare_and_set;
mod conditions;
mod correlation;
mod crew;
mod defect;
mod definitions;
mod doorbell;
mod drives;
mod effect_kept;
mod event;
mod identity_kept;
mod inbox;
mod inbox_limit;
mod key_applied;
mod key_held;
mod key_spaces;
mod lease;
mod moved_children;
mod operations;
mod order;
mod outcomes;
mod prelude;
mod prune;
mod queries;
pub(crate) mod random;
mod ready;
mod records;
pub(in crate::store) mod sample;
mod sent_at;
mod sessions;
mod stuck;
mod subject;
mod summary;
mod twin;
mod twins;
mod under_way;
mod visits;

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use super::{
    OpenOptions,
    backend::{Backend, StoreSettings},
    memory::Memory,
    sqlite,
};

/// Opens a fresh, empty store.
pub(super) type Open<'a> = dyn Fn(StoreSettings) -> Arc<dyn Backend> + 'a;

/// A promise was kept, or the error says how it was broken.
type Kept<T = ()> = Result<T, String>;

type Check = for<'a> fn(&'a Open<'a>) -> Pin<Box<dyn Future<Output = Kept> + 'a>>;

/// A table of checks, each named after its file.
macro_rules! suite {
    ($($promise:ident)*) => {
        [$((stringify!($promise), |open| Box::pin($promise::check(open)))),*]
    };
}

const SUITE: [(&str, Check); 36] = suite![
    all_or_nothing attempts_stay calls chain children closed commit_id compare_and_set
    conditions correlation crew definitions doorbell drives effect_kept identity_kept inbox
    inbox_limit key_applied key_held key_spaces lease moved_children operations order outcomes
    prune queries ready records sent_at sessions stuck summary under_way visits
];

/// Runs the whole suite; returns the broken promises, each with its error.
pub(super) fn broken_promises(open: &Open<'_>) -> Vec<(&'static str, String)> {
    let run = |&(promise, check): &(&'static str, Check)| {
        pollster::block_on(check(open)).err().map(|wrong| (promise, wrong))
    };
    SUITE.iter().filter_map(run).collect()
}

/// Runs the whole suite on a backend that must pass it.
fn run(name: &str, open: &Open<'_>) {
    let broken = broken_promises(open);
    assert!(broken.is_empty(), "{name}: {broken:#?}");
}

/// The settings with which most checks open a store. On a slow disk its own writes take a part of
/// the time to wait for others, so that is a minute.
pub(in crate::store) fn settings() -> StoreSettings {
    OpenOptions::new().key([7; 32]).busy_timeout(Duration::from_mins(1)).settings()
}

#[test]
fn memory_keeps_every_promise() {
    run("memory", &|settings| Arc::new(Memory::new(settings)));
}

#[test]
fn sqlite_keeps_every_promise() {
    let folder = tempfile::tempdir().unwrap();
    let stores = AtomicUsize::new(0);
    run("sqlite", &|settings| {
        let number = stores.fetch_add(1, Ordering::Relaxed);
        let path = folder.path().join(format!("{number}.db"));
        Arc::new(sqlite::open(&path, settings, false).unwrap())
    });
}

/// Returns an error with this message unless the condition holds.
macro_rules! ensure {
    ($holds:expr, $($message:tt)+) => {
        if !$holds {
            return Err(format!($($message)+));
        }
    };
}
use ensure;

/// Returns an error with both values unless they are equal.
macro_rules! same {
    ($found:expr, $expected:expr, $($what:tt)+) => {
        match (&$found, &$expected) {
            (found, expected) => {
                if *found != *expected {
                    let what = format!($($what)+);
                    return Err(format!("{what}: {found:#?}\nand not {expected:#?}"));
                }
            }
        }
    };
}
use same;
