use std::sync::Arc;

use event_listener::Event;

use crate::{future::BoxFuture, store::Store};

/// Tells workers that there may be something to do, so that they need not poll.
///
/// The inbox is the truth: a ring says nothing about what happened, may come too often, and may be
/// lost. Then the next sweep finds the work, later. A store has its own doorbell, which rings at
/// once in its process, and in others soon after the file has changed; another one connects workers
/// that cannot see each other's files.
pub trait Doorbell: Send + Sync + 'static {
    /// Rings: something was committed.
    fn ring(&self);

    /// Completes with the next ring. It counts from this call on, not from the first poll.
    fn listen(&self) -> BoxFuture<'static, ()>;
}

#[derive(Debug)]
pub(super) struct StoreDoorbell(pub(super) Arc<Event>);

impl StoreDoorbell {
    pub(super) fn of(store: &Store) -> Self {
        Self(store.commits())
    }
}

impl Doorbell for StoreDoorbell {
    fn ring(&self) {
        self.0.notify(usize::MAX);
    }

    fn listen(&self) -> BoxFuture<'static, ()> {
        Box::pin(self.0.listen())
    }
}

impl Store {
    pub(super) fn ring(&self, doorbell: Arc<dyn Doorbell>) {
        self.inner.backend.on_commit(Arc::new(move || doorbell.ring()));
    }
}
