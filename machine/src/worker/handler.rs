use std::{error::Error, future::Future, time::Duration};

use serde::de::DeserializeOwned;

use super::Task;
use crate::{actor::Sender, stored::Restore, typed::Erased};

/// Why a handler failed. Every error becomes one with `?`.
pub type Failure = Box<dyn Error + Send + Sync>;

/// Does the work that the states of one kind of machine ask for.
///
/// A worker calls it for a machine in a state that is not terminal, whenever the machine came into that
/// state, something it waits for ended, or the time came that the handler asked for. Match on every
/// state, without `_`: then a new state does not compile until it has an arm.
///
/// A handler runs at least once for each state: a worker can end at any moment, and another one calls
/// the handler again. So what must not happen twice is an execution, see [`Task::child`].
///
/// ```
/// use machine::actor::GraphRunner;
/// use machine::machine;
/// use machine::worker::{Failure, Handler, Next, Task};
/// use serde::{Deserialize, Serialize};
///
/// /// An order.
/// #[machine(durable)]
/// #[derive(Debug, Serialize, Deserialize)]
/// pub enum Order {
///     #[initial]
///     #[on(pack => Packed, by = GraphRunner)]
///     Placed,
///     #[stable]
///     #[on(collect => Collected)]
///     Packed,
///     #[terminal]
///     Collected,
/// }
///
/// struct Shop {
///     runner: GraphRunner,
/// }
///
/// impl Handler for Shop {
///     type Machine = AnyOrder;
///
///     async fn handle(&self, order: AnyOrder, _: &mut Task) -> Result<Next<AnyOrder>, Failure> {
///         Ok(match order {
///             AnyOrder::Placed(order) => Next::to(order.pack(&self.runner)),
///             // A message collects it.
///             AnyOrder::Packed(_) => Next::Wait,
///             AnyOrder::Collected(_) => Next::Wait,
///         })
///     }
/// }
/// # fn main() {}
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what the states of a machine ask for",
    label = "implement `machine::worker::Handler` for it"
)]
pub trait Handler: Send + Sync + 'static {
    /// The machine, such as `AnyOrder`.
    type Machine: Driven;

    /// Does what the state asks for.
    ///
    /// # Errors
    ///
    /// The worker tries again later, and after a number of attempts it sets the machine aside. The
    /// machine stays as it was.
    fn handle(
        &self,
        machine: Self::Machine,
        task: &mut Task,
    ) -> impl Future<Output = Result<Next<Self::Machine>, Failure>> + Send;

    /// It has permits, which protect what it does better than a lease: it is not stopped when the
    /// lease is lost.
    #[doc(hidden)]
    const __HAS_PERMITS: bool = false;

    /// Returns whether [`__cancel`](Self::__cancel) cancels this machine.
    #[doc(hidden)]
    fn __can_cancel(&self, _machine: &Self::Machine) -> bool {
        false
    }

    /// Cancels a machine whose state has no move `cancel`.
    #[doc(hidden)]
    #[allow(private_interfaces, reason = "only this library overrides it")]
    fn __cancel(
        &self,
        machine: Self::Machine,
        _reason: &str,
        _by: &Sender,
    ) -> Result<Self::Machine, Self::Machine> {
        Err(machine)
    }
}

/// A machine that a worker can drive: the erased form of one that is durable, and whose events can be read
/// from JSON. Every such machine is.
pub trait Driven: Restore + Erased<Event: DeserializeOwned + Send> + Send + 'static {}

impl<M: Restore + Erased<Event: DeserializeOwned + Send> + Send + 'static> Driven for M {}

/// Another worker may be able to do it; this one tries nothing.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Elsewhere(pub(super) String);

/// The result of a handler.
#[derive(Debug)]
#[non_exhaustive]
pub enum Next<M> {
    /// The machine made a transition, or several: it is committed, together with what the handler gave
    /// to its [`Task`].
    Commit(M),
    /// Nothing to do until a message comes, a deadline is due, a child ends, or another writer changes
    /// the machine.
    Wait,
    /// Like [`Wait`](Self::Wait), but at most for this time, and at least for 10 ms; then the handler is called again.
    WaitFor(Duration),
}

impl<M> Next<M> {
    /// After these transitions: the machine in its new state.
    pub fn to(machine: impl Into<M>) -> Self {
        Self::Commit(machine.into())
    }
}
