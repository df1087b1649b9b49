use std::{fmt, future::Future, sync::Arc};

use super::{lease::Lease, shared::Shared};
use crate::{
    actor::Actors,
    contract::{Callable, Planned},
    id::Id,
    store::{Batch, Child, LoadError, Message, Store},
    stored::Durable,
};

/// What a handler works on, and what is to be written together with its transition.
///
/// Hand it to helpers as `&mut Task`: machines cannot be shared between threads, so a future that holds a
/// `&Task` cannot be sent to one.
pub struct Task {
    store: Store,
    actors: Arc<Actors>,
    lease: Arc<Lease>,
    pub(super) created: Vec<Box<dyn Durable>>,
    pub(super) children: Vec<Box<dyn Durable>>,
    pub(super) messages: Vec<(Id, Message)>,
}

impl Task {
    pub(super) fn new(shared: &Shared, lease: &Arc<Lease>) -> Self {
        Self {
            store: shared.store.clone(),
            actors: Arc::clone(&shared.actors),
            lease: Arc::clone(lease),
            created: Vec::new(),
            children: Vec::new(),
            messages: Vec::new(),
        }
    }

    /// The store, for reading. What is written with it is written at once, whether or not the
    /// transition is.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The actors of the worker.
    #[must_use]
    pub fn actors(&self) -> &Actors {
        &self.actors
    }

    /// The machine.
    #[must_use]
    pub fn id(&self) -> Id {
        self.lease.id
    }

    /// Creates a machine, in the batch of the transition.
    pub fn create(&mut self, machine: impl Durable + 'static) {
        self.created.push(Box::new(machine));
    }

    /// Creates a child: a machine that this one waits for, in the batch of the
    /// transition. When it ends, the handler of this machine is called. When this machine ends first,
    /// the child gets a message with the trigger `cancel`.
    pub fn child(&mut self, machine: impl Durable + 'static) {
        self.children.push(Box::new(machine));
    }

    /// Creates the execution of a call as a child. A worker that has its tool runs it.
    pub fn call<T: Callable>(&mut self, planned: Planned<T>) {
        self.child(planned.into_execution());
    }

    /// Sends a message, in the batch of the transition. A handler that sends messages to its own machine and
    /// waits, 100 times in a row without a transition, is set aside.
    pub fn send(&mut self, to: Id, message: Message) {
        self.messages.push((to, message));
    }

    /// The children of the machine, in the order in which they were created. It is time to join them
    /// when all have ended.
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now.
    // Not an `async fn`: its future must not borrow machines, which cannot be shared between threads.
    pub fn children(&self) -> impl Future<Output = Result<Vec<Child>, LoadError>> + Send + use<> {
        let (store, id) = (self.store.clone(), self.id());
        async move { store.children(id).await }
    }

    /// The children, once all have ended; `None` before, so that the handler waits.
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now.
    pub fn joined(
        &self,
    ) -> impl Future<Output = Result<Option<Vec<Child>>, LoadError>> + Send + use<> {
        let children = self.children();
        async move {
            let children = children.await?;
            Ok(children.iter().all(|child| child.has_ended).then_some(children))
        }
    }

    /// Whether the worker still has the lease. Without it, nothing of this task will be written; a
    /// long handler can ask, to stop early. It is stopped at its next `.await` anyway.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.lease.is_valid(&self.store)
    }

    /// Adds everything to a batch.
    pub(super) fn write<'a>(&'a mut self, mut batch: Batch<'a>) -> Batch<'a> {
        let id = self.lease.id;
        for machine in &mut self.created {
            batch = batch.create(&mut **machine);
        }
        for child in &mut self.children {
            batch = batch.create_child(id, &mut **child);
        }
        for (to, message) in &self.messages {
            batch = batch.send(*to, message);
        }
        batch
    }

    /// Whether it sends messages to the machine that it works on.
    pub(super) fn sends_itself(&self) -> bool {
        self.messages.iter().any(|(to, _)| *to == self.lease.id)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.created.is_empty() && self.children.is_empty() && self.messages.is_empty()
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").field("id", &self.id()).finish_non_exhaustive()
    }
}
