//! Commits and batches.

use std::time::Duration;

use machine::{
    contract::Settled,
    effects::{Change, EffectError},
    store::{Message, Query, Sent, Unavailable},
};
use machine_tests::{
    actors::{ann, tool_node},
    assert_err,
    samples::{mail, read},
};

use super::{
    BUSY, FSYNC, FULL, assert_indeterminate, commit_fails, commit_is_indeterminate, counting,
    either_way, gates::asked, on_a_file,
};
use crate::{
    machines::{Meter, Task, meter::Counting},
    support::{
        BEGUN, alone, applied, begun, history, lines, new_file, not_applied, options, stored,
    },
};

const TWO: [&str; 3] = ["created", "add one", "add two"];

/// The store can find out: it answers success if the commit took effect. Otherwise nothing was
/// written, the machine is as it was, and can be committed again.
#[test]
fn an_error_of_a_commit_is_decided() {
    either_way("commits::an_error_of_a_commit_is_decided", async |store, took_place, _| {
        for code in [FSYNC, FULL, BUSY] {
            let mut meter = counting(store).await.add("two".to_owned());
            commit_fails(took_place, code);
            let committed = store.commit(&mut meter).await;
            if took_place {
                committed.unwrap();
            } else {
                assert_err!(committed, EffectError::Unavailable(error)
                    if !matches!(error, Unavailable::Indeterminate(_))
                        && (*error == Unavailable::Full) == (code == FULL)
                        && error.is_busy() == (code == BUSY));
                assert_eq!(meter.journal().uncommitted().len(), 1);
                assert_eq!(history(store, meter.id()).await, TWO[..2]);
                store.commit(&mut meter).await.unwrap();
            }
            assert_eq!(history(store, meter.id()).await, TWO);
        }
    });
}

/// The store reports an unknown outcome, and the same commit resolves it, also in the file of a
/// store that was opened again.
#[test]
fn an_indeterminate_commit_can_be_retried() {
    alone("indeterminate::commits::an_indeterminate_commit_can_be_retried", async || {
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
            assert_eq!(history(&store, meter.id()).await, TWO);
            store.commit(&mut meter.add("three".to_owned())).await.unwrap();
        }
        crate::support::assert_intact(&store).await;
    });
}

/// So can a batch, whatever is in it: machines that are created or moved, a begin, an outcome, and
/// an answer with the begin behind it.
#[test]
fn an_indeterminate_batch_can_be_retried() {
    either_way("commits::an_indeterminate_batch_can_be_retried", async |store, took_place, to| {
        let mut new = Meter::new().add("one".to_owned());
        let mut old = counting(store).await.add("two".to_owned());
        let mut job = stored(store, read("a.txt")).await.start(tool_node());
        let pending = stored(store, mail(&format!("{to} 1"))).await;
        let (running, permit) = begun(store, mail(&format!("{to} 2"))).await;
        let (gate, behind) = asked(store, &format!("{to} 3")).await;
        let ids = [pending.id(), running.id(), gate.id(), behind.id()];
        let mut begin = Change::begin(pending.into(), tool_node());
        let mut settle = Change::settle(running, not_applied(permit, "no").await, tool_node());
        let mut decide = machine_tests::approval(gate, ann());
        let mut second = Change::begin(behind, tool_node());
        commit_is_indeterminate(took_place);
        for is_again in [false, true] {
            let batch = store.batch().create(&mut new).commit(&mut old).commit(&mut job);
            let batch = batch.change(&mut begin).change(&mut settle);
            let written = batch.change(&mut decide).change(&mut second).write().await;
            if is_again {
                written.unwrap();
            } else {
                assert_indeterminate(written);
            }
        }
        assert_eq!(history(store, new.id()).await, TWO[..2]);
        assert_eq!(history(store, old.id()).await, TWO);
        assert_eq!(history(store, job.id()).await, ["created", "start"]);
        assert_eq!(history(store, ids[0]).await[1..], BEGUN);
        assert_eq!(history(store, ids[1]).await[4..], ["not applied no", "fail no"]);
        assert_eq!(history(store, ids[2]).await.len(), 6);
        assert_eq!(history(store, ids[3]).await[1..], BEGUN);
        assert!(matches!(settle.finish(), Ok(Settled::Failed(_))));
        assert!(decide.finish().is_ok());
        for (number, begin) in [begin, second].into_iter().enumerate() {
            let (running, permit) = begin.finish().unwrap();
            assert!(!permit.token().to_string().ends_with("-00000000000000000000"), "{number}");
            let outcome = applied(permit, "sent").await;
            let _ = store.settle(running, outcome, tool_node()).await.unwrap();
        }
    });
}

/// Another process changed a machine after the indeterminate commit: still found.
#[test]
fn an_indeterminate_commit_is_found_behind_another_one() {
    let name = "commits::an_indeterminate_commit_is_found_behind_another_one";
    on_a_file(name, async |store| {
        let mut first = counting(store).await.add("two".to_owned());
        let mut second = counting(store).await.add("two".to_owned());
        commit_is_indeterminate(true);
        assert_indeterminate(store.batch().commit(&mut first).commit(&mut second).write().await);
        // Another process moves one of the two on.
        let mut other = store.resume::<Counting>(first.id()).await.unwrap().add("three".to_owned());
        store.commit(&mut other).await.unwrap();
        store.batch().commit(&mut first).commit(&mut second).write().await.unwrap();
        let expected = [&TWO[..], &["add three"]].concat();
        assert_eq!(history(store, first.id()).await, expected);
        assert_eq!(history(store, second.id()).await, TWO);
    });
}

/// A deadline that starts after an indeterminate commit counts like every other.
#[test]
fn a_deadline_after_an_indeterminate_commit_is_listed() {
    let name = "commits::a_deadline_after_an_indeterminate_commit_is_listed";
    on_a_file(name, async |store| {
        let mut task = Task::new();
        store.create(&mut task).await.unwrap();
        let mut task = task.note();
        commit_is_indeterminate(false);
        assert_indeterminate(store.commit(&mut task).await);
        // It was not written, so that this is the first try of both.
        store.commit(&mut task.begin(0)).await.unwrap();
        let line = &lines(store, &Query::new()).await[0];
        assert!(line.due_at.is_some(), "{line:?}");
        assert_eq!(lines(store, &Query::new().due()).await.len(), 1);
    });
}

/// A try in between that surely writes nothing does not make the store forget the first one.
#[test]
fn an_indeterminate_commit_is_found_after_another_error() {
    let name = "indeterminate::commits::an_indeterminate_commit_is_found_after_another_error";
    alone(name, async || {
        let (_folder, file) = new_file();
        let impatient = options().busy_timeout(Duration::from_millis(10));
        let store = impatient.sqlite(&file).await.unwrap();
        for took_place in [false, true] {
            let mut meter = counting(&store).await.add("two".to_owned());
            commit_is_indeterminate(took_place);
            assert_indeterminate(store.commit(&mut meter).await);
            let holder = rusqlite::Connection::open(&file).unwrap();
            holder.execute_batch("BEGIN IMMEDIATE").unwrap();
            assert_err!(store.commit(&mut meter).await, EffectError::Unavailable(error)
                if error.is_busy());
            holder.execute_batch("ROLLBACK").unwrap();
            store.commit(&mut meter).await.unwrap();
            assert_eq!(history(&store, meter.id()).await, TWO);
        }
    });
}

/// A refused commit shows no times that were never written.
#[test]
fn a_failed_commit_leaves_deadlines_as_they_were() {
    on_a_file("commits::a_failed_commit_leaves_deadlines_as_they_were", async |store| {
        let mut task = Task::new();
        store.create(&mut task).await.unwrap();
        let mut task = task.begin(0);
        commit_fails(false, BUSY);
        assert_err!(store.commit(&mut task).await, EffectError::Unavailable(error) if error.is_busy());
        assert!(task.journal().deadlines().iter().all(|due| due.due_at.is_none()));
    });
}

/// The batch, and every later one, is answered.
#[test]
fn a_panic_of_the_writer_stops_the_store() {
    alone("indeterminate::commits::a_panic_of_the_writer_stops_the_store", async || {
        let (_folder, file) = new_file();
        // Its transaction stays open, and closing waits for it.
        let impatient = options().busy_timeout(Duration::from_millis(10));
        let store = impatient.sqlite(&file).await.unwrap();
        fail::cfg("store-commit", "1*panic").unwrap();
        for _ in 0..2 {
            let (mut one, mut other) = (Meter::new(), Meter::new());
            let refused = tokio::join!(store.create(&mut one), store.create(&mut other));
            for refused in [refused.0, refused.1] {
                assert_err!(refused, EffectError::Unavailable(Unavailable::Stopped));
            }
        }
        assert_eq!(store.close().await.unwrap_err(), Unavailable::Stopped);
        assert!(store.position().await.is_err());
    });
}

/// A message that did not get to the disk is not said to be a machine, and is sent again.
#[test]
fn a_message_is_said_to_be_unsent() {
    on_a_file("commits::a_message_is_said_to_be_unsent", async |store| {
        let id = counting(store).await.id();
        let event = r#"{"trigger": "add", "last": "two"}"#;
        for (code, says) in [
            (FULL, "the disk is full; nothing was written; free some space and try again"),
            (BUSY, "another process has the database locked; nothing was written; try again later"),
            (FSYNC, "repeat the same write to find out: it takes effect once"),
        ] {
            let message = Message::from_json(event, ann()).unwrap();
            commit_fails(false, code);
            let error = store.send(id, &message).await.unwrap_err();
            assert!(error.to_string().ends_with(says), "{error}");
            let inbox = store.inbox(id).await.unwrap();
            assert!(inbox.iter().flatten().all(|it| it.correlation != message.correlation()));
            assert_eq!(store.send(id, &message).await.unwrap(), Sent::Queued);
        }
    });
}
