use std::{error::Error, future::Future, marker::PhantomData, time::Duration};

use serde::de::DeserializeOwned;

use super::Task;
use crate::{stored::Restore, typed::Erased};

/// Why a handler failed. `?` converts every error into a failure.
pub type Failure = Box<dyn Error + Send + Sync>;

/// What a handler of a machine, such as `AnyOrder`, returns.
pub type Handled<M> = Result<Next<M>, Failure>;

/// Handles the states of one kind of machine.
///
/// For each durable machine, `#[machine]` generates the trait `Handle`, with a method for each
/// state, and `Driver`, which turns an implementation into a handler; see
/// [Handlers](macro@crate::machine#handlers). Implement `Handler` directly for work that is the
/// same in all states, or for all machines.
///
/// A worker calls the handler for a machine in a state that is not terminal: when the machine has
/// entered the state, when something that it waits for has ended, or when the time that the handler
/// asked for has come.
///
/// A handler runs at least once for each state: a worker can end at any moment, and another one
/// calls the handler again. If something must not happen twice, make it a call of the state: see
/// [Invocations](macro@crate::machine#invocations).
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// use machine::worker::{Handled, Handler, Task};
///
/// /// Counts how often another handler is called.
/// struct Counted<H>(H, AtomicUsize);
///
/// impl<H: Handler> Handler for Counted<H> {
///     type Machine = H::Machine;
///
///     async fn handle(&self, machine: H::Machine, task: &mut Task) -> Handled<H::Machine> {
///         self.1.fetch_add(1, Ordering::Relaxed);
///         self.0.handle(machine, task).await
///     }
/// }
/// # fn main() {}
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler of a machine",
    label = "implement `machine::worker::Handler` for it"
)]
pub trait Handler: Send + Sync + 'static {
    /// The machine, such as `AnyOrder`.
    type Machine: Driven;

    /// Handles the current state.
    ///
    /// # Errors
    ///
    /// The worker tries again later, and sets the machine aside after a number of attempts. The
    /// machine does not change.
    fn handle(
        &self,
        machine: Self::Machine,
        task: &mut Task,
    ) -> impl Future<Output = Handled<Self::Machine>> + Send;

    /// It has permits, which protect what it does better than a lease: it is not stopped when the
    /// lease is lost.
    #[doc(hidden)]
    const __HAS_PERMITS: bool = false;
}

/// Returns whether it handles the heads of agents: the library's handler, or one around it. That
/// one reads the outcomes of the calls of a state itself, one by one, and says which messages it
/// has dealt with; and it has one more attempt, which ends what the others could not do.
pub(super) fn is_of_heads<H: Handler>() -> bool {
    <H::Machine as Restore>::DEFINITION.name == "agent_head"
}

/// A machine that a worker can drive: the erased form of a durable machine whose events can be read
/// from JSON. Every such machine implements this.
pub trait Driven: Restore + Erased<Event: DeserializeOwned + Send> + Send + 'static {}

impl<M: Restore + Erased<Event: DeserializeOwned + Send> + Send + 'static> Driven for M {}

/// A durable machine in which no state needs a [handler](macro@crate::machine#handlers).
/// `#[machine]` implements it. See [`Worker::machine`](super::Worker::machine).
#[diagnostic::on_unimplemented(
    message = "`{Self}` has states that need a handler",
    label = "the table of this machine does not say all that its states do",
    note = "implement `Handle`, a trait in the module of the machine, and pass `Driver` from there to `Worker::handler`: \
            `worker.handler(order::Driver(shop))`"
)]
pub trait SelfDriven {}

pub(super) struct Waits<M>(pub(super) PhantomData<fn() -> M>);

impl<M: Driven> Handler for Waits<M> {
    type Machine = M;

    async fn handle(&self, _: M, _: &mut Task) -> Handled<M> {
        Ok(Next::Wait)
    }
}

/// Another worker may be able to do it; this one does not try.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct UnsupportedHere(pub(super) String);

/// The result of a handler.
#[derive(Debug)]
#[non_exhaustive]
pub enum Next<M> {
    /// The machine made one or more transitions: they are committed, together with the writes of
    /// the handler's [`Task`]. Without a transition, the attempt counts as failed.
    Commit(M),
    /// The handler waits until a message arrives, a deadline is due, a child ends, or another
    /// writer changes the machine. If there is no open call or child, no deadline, no queued
    /// message and no move for a person, and the state is not `#[stable]`, the machine needs
    /// attention after a minute.
    Wait,
    /// Like [`Wait`](Self::Wait), but for at most this time, and at least 10 ms; then the worker
    /// calls the handler again.
    WaitFor(Duration),
}

impl<M> Next<M> {
    /// Commits these transitions: the machine in its new state.
    pub fn to(machine: impl Into<M>) -> Self {
        Self::Commit(machine.into())
    }
}
