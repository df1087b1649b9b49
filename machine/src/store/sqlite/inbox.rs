use async_channel::Receiver;

/// The receiving end of a thread's queue. When the thread ends for any reason, the queue is
/// emptied, and waiting callers get "stopped" instead of waiting forever.
#[derive(Debug)]
pub(super) struct Inbox<T>(pub(super) Receiver<T>);

impl<T> Drop for Inbox<T> {
    fn drop(&mut self) {
        // Nothing can be sent after this, so that the loop gets the rest.
        self.0.close();
        while self.0.try_recv().is_ok() {}
    }
}
