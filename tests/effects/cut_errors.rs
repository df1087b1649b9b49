//! Errors of a service after which a part of its call may still be running, and errors after which
//! none is.

use std::io;

use crate::effects::{
    in_flight::{is_cut_off, lost, panics, performed, service, still_running},
    prelude::*,
};

on_file! {
    an_end_that_may_leave_something_behind_is_a_cut,
    an_end_that_leaves_nothing_behind_is_no_cut,
}

/// Waits in a place that is not asynchronous.
fn on_another_runtime<T: Send>(future: impl Future<Output = T> + Send) -> T {
    let run = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.unwrap().block_on(future)
    };
    std::thread::scope(|scope| scope.spawn(run).join().unwrap())
}

/// An error with a cause.
#[derive(Debug, thiserror::Error)]
#[error("the bank client failed")]
struct Wrapped(#[source] Box<dyn std::error::Error + Send + Sync>);

fn elapsed() -> tokio::time::error::Elapsed {
    on_another_runtime(async {
        let never = std::future::pending::<()>();
        tokio::time::timeout(Duration::ZERO, never).await.unwrap_err()
    })
}

fn join_error() -> tokio::task::JoinError {
    on_another_runtime(async {
        let task = tokio::spawn(std::future::pending::<()>());
        task.abort();
        task.await.unwrap_err()
    })
}

/// An answer, with its name.
type Case = (&'static str, fn() -> ToolAnswer<Action>);

/// A wait that was given up, a task that failed, also converted through other errors, a panic, and
/// a service that says so. Only the last one counts for a service that is confined to its future,
/// too.
async fn an_end_that_may_leave_something_behind_is_a_cut(place: Place) {
    let answers: [Case; 10] = [
        ("still running", still_running),
        ("elapsed", || Err(elapsed())?),
        ("elapsed, from", || Err(io::Error::from(elapsed()))?),
        ("elapsed, other", || Err(io::Error::other(elapsed()))?),
        ("elapsed, nested", || Err(Wrapped(Box::new(io::Error::other(elapsed()))))?),
        // Pointers hand on the source of the error and not the error.
        ("elapsed, shared", || Err(Wrapped(Box::new(Arc::new(elapsed()))))?),
        ("elapsed, boxed", || Err(Wrapped(Box::new(Box::new(elapsed()))))?),
        ("a task", || Err(join_error())?),
        ("a task, nested", || Err(Wrapped(Box::new(join_error())))?),
        ("a panic", panics),
    ];
    for (what, answer) in answers {
        let open = place.another().await;
        let (doubt, guard) = performed::<false>(&open, answer).await;
        drop(guard);
        assert_eq!(open.parked(doubt.id()).await, Liveness::CutOff, "{what}");
        open.confirm(is_cut_off(&open, doubt).await).await;

        let confined = place.another().await;
        let (doubt, guard) = performed::<true>(&confined, answer).await;
        drop(guard);
        if what == "still running" {
            let _ = is_cut_off(&confined, doubt).await;
        } else {
            let _ = confined.deny(doubt).await;
        }
    }
    // A guard can say so, too.
    let (doubt, guard) = performed::<true>(&place, lost).await;
    guard.answer(still_running());
    let _ = is_cut_off(&place, doubt).await;
}

/// An error of the system, such as a connection that timed out, has ended.
async fn an_end_that_leaves_nothing_behind_is_no_cut(place: Place) {
    let errors: [fn() -> ToolAnswer<Action>; 4] = [
        // Even if it suggests that nothing happened.
        || Err(io::Error::from(io::ErrorKind::ConnectionRefused))?,
        || Err(io::Error::from_raw_os_error(110))?,
        || Err(io::Error::new(io::ErrorKind::TimedOut, "connection timed out"))?,
        || Err(io::Error::other("connection reset"))?,
    ];
    for error in errors {
        let (service, guard) = service::<false>(Some(Box::new(error)));
        drop(guard);
        let settled = place.performed(mail("bob"), service).await;
        let Settled::InDoubt(doubt) = settled else { panic!("{settled:?}") };
        assert_eq!(place.parked(doubt.id()).await, Liveness::Ended);
        let _ = place.deny(doubt).await;
    }
}
