//! Commits and batches.

use machine_tests::actors::tool_node;
use std::time::Duration;

use machine::store::{CommitError, Query};
use machine_tests::{assert_err, samples::read};

use super::{
    BUSY, FSYNC, FULL, assert_indeterminate, commit_fails, commit_is_indeterminate, counting,
};
use crate::{
    machines::{Meter, Task, meter::Counting},
    process::alone,
    support::{assert_intact, history, lines, new_file, options, stored},
};

/// The store can find out: it answers success if the commit took effect.
#[test]
fn an_error_of_a_commit_that_took_place_is_success() {
    alone("indeterminate::commits::an_error_of_a_commit_that_took_place_is_success", async || {
        let (_folder, file) = new_file();
        let store = options().sqlite(&file).await.unwrap();
        for code in [FSYNC, FULL, BUSY] {
            let mut meter = counting(&store).await.add("two".to_owned());
            commit_fails(true, code);
            store.commit(&mut meter).await.unwrap();
            assert_eq!(history(&store, meter.id()).await, ["created", "add one", "add two"]);
        }
        assert_intact(&store).await;
    });
}

/// The store can find out: nothing was written, the machine is as it was, and can be committed again.
#[test]
fn an_error_of_a_commit_that_did_not_take_place_writes_nothing() {
    alone(
        "indeterminate::commits::an_error_of_a_commit_that_did_not_take_place_writes_nothing",
        async || {
            let (_folder, file) = new_file();
            let store = options().sqlite(&file).await.unwrap();
            for code in [FSYNC, FULL, BUSY] {
                let mut meter = counting(&store).await.add("two".to_owned());
                commit_fails(false, code);
                assert_err!(store.commit(&mut meter).await, CommitError::Unavailable(error)
                if !error.is_indeterminate()
                    && error.is_full() == (code == FULL)
                    && error.is_busy() == (code == BUSY));
                assert_eq!(meter.journal().uncommitted().len(), 1);
                assert_eq!(history(&store, meter.id()).await, ["created", "add one"]);
                store.commit(&mut meter).await.unwrap();
                assert_eq!(history(&store, meter.id()).await, ["created", "add one", "add two"]);
            }
            assert_intact(&store).await;
        },
    );
}

/// The store cannot find out: it says so, and the same commit finds out, also in the file of a store
/// that was opened again.
#[test]
fn an_indeterminate_commit_can_be_tried_again() {
    alone("indeterminate::commits::an_indeterminate_commit_can_be_tried_again", async || {
        let (_folder, file) = new_file();
        let mut store = options().sqlite(&file).await.unwrap();
        for (took_place, reopen) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut meter = counting(&store).await.add("two".to_owned());
            commit_is_indeterminate(took_place);
            assert_indeterminate(store.commit(&mut meter).await);
            assert_eq!(meter.journal().uncommitted().len(), 1);
            if reopen {
                store.close().await.unwrap();
                store = options().sqlite(&file).await.unwrap();
            }
            store.commit(&mut meter).await.unwrap();
            assert_eq!((meter.journal().version(), meter.journal().uncommitted().len()), (3, 0));
            assert_eq!(history(&store, meter.id()).await, ["created", "add one", "add two"]);
            let mut meter = meter.add("three".to_owned());
            store.commit(&mut meter).await.unwrap();
        }
        assert_intact(&store).await;
    });
}

/// A machine that is created, and a batch, can be retried in the same way.
#[test]
fn an_indeterminate_batch_can_be_tried_again() {
    alone("indeterminate::commits::an_indeterminate_batch_can_be_tried_again", async || {
        let (_folder, file) = new_file();
        let store = options().sqlite(&file).await.unwrap();
        for took_place in [false, true] {
            let mut new = Meter::new().add("one".to_owned());
            let mut old = counting(&store).await.add("two".to_owned());
            let mut job = stored(&store, read("a.txt")).await.start(tool_node());
            commit_is_indeterminate(took_place);
            let batch = store.batch().create(&mut new).commit(&mut old).commit(&mut job);
            assert_indeterminate(batch.write().await);
            store.batch().create(&mut new).commit(&mut old).commit(&mut job).write().await.unwrap();
            assert_eq!(history(&store, new.id()).await, ["created", "add one"]);
            assert_eq!(history(&store, old.id()).await, ["created", "add one", "add two"]);
            assert_eq!(history(&store, job.id()).await, ["created", "start"]);
        }
        assert_intact(&store).await;
    });
}

/// Another process changed a machine after the indeterminate commit: still found.
#[test]
fn an_indeterminate_commit_is_found_behind_another_one() {
    alone(
        "indeterminate::commits::an_indeterminate_commit_is_found_behind_another_one",
        async || {
            let (_folder, file) = new_file();
            let store = options().sqlite(&file).await.unwrap();
            let mut first = counting(&store).await.add("two".to_owned());
            let mut second = counting(&store).await.add("two".to_owned());
            commit_is_indeterminate(true);
            assert_indeterminate(
                store.batch().commit(&mut first).commit(&mut second).write().await,
            );
            // Another process moves one of the two on.
            let mut other =
                store.resume::<Counting>(first.id()).await.unwrap().add("three".to_owned());
            store.commit(&mut other).await.unwrap();
            store.batch().commit(&mut first).commit(&mut second).write().await.unwrap();
            let expected = ["created", "add one", "add two", "add three"];
            assert_eq!(history(&store, first.id()).await, expected);
            assert_eq!(history(&store, second.id()).await, expected[..3]);
            assert_intact(&store).await;
        },
    );
}

/// A deadline that starts after an indeterminate commit counts like every other.
#[test]
fn a_deadline_after_an_indeterminate_commit_is_listed() {
    alone(
        "indeterminate::commits::a_deadline_after_an_indeterminate_commit_is_listed",
        async || {
            let (_folder, file) = new_file();
            let store = options().sqlite(&file).await.unwrap();
            let mut task = Task::new();
            store.create(&mut task).await.unwrap();
            let mut task = task.note();
            commit_is_indeterminate(false);
            assert_indeterminate(store.commit(&mut task).await);
            // It was not written, so that this is the first try of both.
            let mut task = task.begin(0);
            store.commit(&mut task).await.unwrap();
            let line = &lines(&store, &Query::new()).await[0];
            assert!(line.due_at.is_some(), "{line:?}");
            assert_eq!(lines(&store, &Query::new().due()).await.len(), 1);
        },
    );
}

/// A try in between that surely writes nothing does not make the store forget the first one.
#[test]
fn an_indeterminate_commit_is_found_after_another_error() {
    alone(
        "indeterminate::commits::an_indeterminate_commit_is_found_after_another_error",
        async || {
            let (_folder, file) = new_file();
            let impatient = options().busy_timeout(Duration::from_millis(10));
            let store = impatient.sqlite(&file).await.unwrap();
            for took_place in [false, true] {
                let mut meter = counting(&store).await.add("two".to_owned());
                commit_is_indeterminate(took_place);
                assert_indeterminate(store.commit(&mut meter).await);
                let holder = rusqlite::Connection::open(&file).unwrap();
                holder.execute_batch("BEGIN IMMEDIATE").unwrap();
                assert_err!(store.commit(&mut meter).await, CommitError::Unavailable(error)
                if error.is_busy());
                holder.execute_batch("ROLLBACK").unwrap();
                store.commit(&mut meter).await.unwrap();
                assert_eq!(history(&store, meter.id()).await, ["created", "add one", "add two"]);
            }
        },
    );
}

/// A refused commit shows no times that were never written.
#[test]
fn a_failed_commit_leaves_deadlines_as_they_were() {
    alone("indeterminate::commits::a_failed_commit_leaves_deadlines_as_they_were", async || {
        let (_folder, file) = new_file();
        let store = options().sqlite(&file).await.unwrap();
        let mut task = Task::new();
        store.create(&mut task).await.unwrap();
        let mut task = task.begin(0);
        commit_fails(false, BUSY);
        assert_err!(store.commit(&mut task).await, CommitError::Unavailable(error) if error.is_busy());
        assert!(task.journal().deadlines().iter().all(|due| due.due_at.is_none()));
    });
}
