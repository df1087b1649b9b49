//! Futures behind a trait object, and panics in them.

#[cfg(feature = "store")]
use std::any::Any;
#[cfg(feature = "store")]
use std::task::Poll;
use std::{future::Future, pin::Pin};

/// A future in a box.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The message of a panic.
#[cfg(feature = "store")]
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}

/// Queues the task again behind the others that are ready.
///
/// `tokio::task::yield_now` leaves the waker with the thread. If the thread's next task blocks,
/// such as a handler, the task that yielded hangs until that ends; a queued task is taken by
/// another thread.
#[cfg(feature = "store")]
pub(crate) async fn reschedule() {
    let mut is_rescheduled = false;
    std::future::poll_fn(|context| {
        if is_rescheduled {
            return Poll::Ready(());
        }
        is_rescheduled = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(all(test, feature = "worker"))]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::{sync::mpsc, time::Duration};

    /// The other task is the next of the same thread, and no other thread may take it.
    #[test]
    fn rescheduled_task_does_not_wait_for_a_task_that_blocks_its_thread() {
        let mut threads = tokio::runtime::Builder::new_multi_thread();
        let runtime = threads.worker_threads(2).build().unwrap();
        let (unblock, blocked) = mpsc::channel::<()>();
        let (told, continued) = mpsc::channel();
        drop(runtime.spawn(async move {
            drop(tokio::spawn(async move { blocked.recv() }));
            super::reschedule().await;
            told.send(()).unwrap();
        }));
        let continued = continued.recv_timeout(Duration::from_mins(1));
        drop(unblock);
        continued.expect("it waits for the task that blocks");
    }
}
