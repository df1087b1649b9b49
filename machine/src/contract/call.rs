use std::{fmt, future::Future, ops::Deref, sync::Arc, time::Duration};

use super::{
    AnswersLater, Callable, CallbackToken, Contract, IdempotencyKey, InFlight, InvalidContract,
    NoReceipt, Tool, ToolAnswer, in_flight::CallHandle, limits::bounded,
};
use crate::{clock::Millis, future::BoxFuture, id::Id};

/// One attempt at a call: its approved action, and its identity for the remote service.
#[derive(Debug)]
#[non_exhaustive]
pub struct Attempt<T> {
    /// The arguments, parsed from the stored action.
    pub arguments: T,
    /// The execution that the attempt belongs to.
    pub execution_id: Id,
    /// The idempotency key, for a service that deduplicates too. It is the same for every attempt
    /// at the same action.
    pub key: Option<IdempotencyKey>,
    /// The contract says that the action is irreversible.
    pub irreversible: bool,
}

impl<T: Callable> Attempt<T> {
    pub(crate) fn new(arguments: T, execution_id: Id, contract: &Contract) -> Self {
        Self {
            arguments,
            execution_id,
            key: contract.idempotency_key().cloned(),
            irreversible: contract.is_irreversible(),
        }
    }
}

/// A call under a permit, lent to the service for the duration of the call.
///
/// It contains everything that determines the call: the arguments, parsed from the stored action
/// that was approved, and the key, the fencing token and the deadline. Only the library can make
/// one.
#[derive(Debug)]
pub struct Call<T> {
    pub(super) attempt: Attempt<T>,
    /// The fencing token: a service that remembers the highest one it has seen can refuse lower
    /// ones. It rises from attempt to attempt.
    pub token: Token,
    /// When the call times out, by the clock of the store (milliseconds since the Unix epoch).
    pub expires_at: Option<Millis>,
    /// The time that the caller waits for an answer; `None` means without a limit.
    pub timeout: Option<Duration>,
    /// For a tool whose service may report later.
    pub(super) callback: Option<CallbackToken>,
    pub(super) handle: CallHandle,
}

impl<T> Call<T> {
    /// Asks the store whether the permit is still valid: this worker has not been fenced. Ask right
    /// before the irreversible step, after all slow work.
    ///
    /// Returns `false` if the store cannot be read.
    pub async fn still_valid(&self) -> bool {
        let handle = &self.handle;
        handle.permit_check.check(handle.execution_id, handle.epoch).await.is_ok()
    }
}

impl<T: Callable> Call<T> {
    /// A guard for a part of the call that runs apart from the future of
    /// [`perform`](Perform::perform), such as a blocking task.
    #[must_use = "the call is in flight while the guard is alive"]
    pub fn in_flight(&self) -> InFlight<T> {
        InFlight::new(&self.handle)
    }
}

impl<T> Deref for Call<T> {
    type Target = Attempt<T>;

    fn deref(&self) -> &Attempt<T> {
        &self.attempt
    }
}

/// A service that performs a tool: it has the connection, the address, the credentials. The
/// [`Call`] determines what it does.
///
/// ```
/// use machine::contract::{Answer, Applied, Call, OrRefused, Perform, Tool};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Debug, Serialize, Deserialize, Tool)]
/// #[tool(cluster.deploy, irreversible)]
/// struct Deploy {
///     version: u32,
/// }
///
/// struct Cluster {
///     oldest: u32,
/// }
///
/// impl Perform<Deploy> for Cluster {
///     async fn perform(&self, call: &Call<Deploy>) -> Answer {
///         let version = call.arguments.version;
///         if version < self.oldest {
///             return Err("refused before anything was changed".to_owned()).or_refused();
///         }
///         if !call.still_valid().await {
///             return Err("the permit is no longer valid".to_owned()).or_refused();
///         }
///         Ok(Applied::new(format!("version {version} is live")))
///     }
/// }
/// ```
///
/// # A timeout of the service's own
///
/// Work that a service stops waiting for may still take effect. `?` recognizes tokio's errors for
/// an abandoned wait, even as the [`source`](std::error::Error::source) of another error. If an
/// error hides them, the call counts as ended while its client may still pay,
/// [`find`](Perform::find) does not know the payment yet, and another attempt pays twice. If the
/// work that continues holds a guard, the call ends only with that work, and its answer arrives:
///
/// ```
/// use std::time::Duration;
///
/// use machine::contract::{Answer, Applied, Call, NoReceipt, Perform, Tool};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Debug, Clone, Serialize, Deserialize, Tool)]
/// #[tool(bank.pay, irreversible)]
/// struct Pay {
///     cents: u64,
/// }
///
/// #[derive(Clone)]
/// struct Bank;
///
/// impl Bank {
///     /// A client that blocks.
///     fn pay(&self, _: &Pay) -> Answer {
///         Ok(Applied::new("transfer 17"))
///     }
/// }
///
/// impl Perform<Pay> for Bank {
///     async fn perform(&self, call: &Call<Pay>) -> Answer {
///         let (bank, pay, in_flight) = (self.clone(), call.arguments.clone(), call.in_flight());
///         let paid = tokio::task::spawn_blocking(move || {
///             let answer = bank.pay(&pay);
///             in_flight.answer(answer.clone());
///             answer
///         });
///         match tokio::time::timeout(Duration::from_secs(5), paid).await {
///             Ok(answer) => answer?,
///             // It would hide that the client is still running, without the guard.
///             Err(_) => Err(NoReceipt::unknown("the bank is slow")),
///         }
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not perform this tool",
    label = "this service does not implement `Perform` for the tool",
    note = "implement `machine::contract::Perform<T>` for the type `T` of the tool, or make a service with \
            `service_fn`"
)]
pub trait Perform<T: Callable>: Send + Sync {
    /// No part of a call runs once its future and its guards ([`Call::in_flight`]) are gone. This
    /// is true for an asynchronous client that sends in its own future; it is not true for
    /// `spawn_blocking`, a thread, or a spawned task without a guard.
    ///
    /// A call of a service that is not confined, and that was cut off (its future was dropped, or
    /// it panicked), counts as alive until its process ends: "not applied" waits until then.
    const CONFINED: bool = false;

    /// Checks a call before it begins or runs again. A refused call stays unchanged, for another
    /// program or for a person who cancels it. By default, no call is refused.
    ///
    /// # Errors
    ///
    /// [`InvalidContract`], if this service cannot perform the call.
    fn check_call(&self, contract: &Contract) -> Result<(), InvalidContract> {
        let _ = contract;
        Ok(())
    }

    /// Performs the call, and answers with evidence. Any other error, through `?`, a panic, and a
    /// timeout mean that it is unknown whether an irreversible call took effect.
    fn perform(&self, call: &Call<T>) -> impl Future<Output = ToolAnswer<T>> + Send;

    /// Asks the remote service whether an earlier attempt took effect, for an execution in doubt:
    /// returns the receipt; `NotApplied` if the service does not know the call, which counts only
    /// after the tool's [settling time](Tool::SETTLING_TIME), and which the machine takes as
    /// [`CallError::NotApplied`](super::CallError::NotApplied); or unknown, the default. Workers
    /// ask about once a minute.
    ///
    /// Write an implementation as `async fn find(&self, attempt: &Attempt<Pay>) -> Answer`, or with
    /// the types of the tool `-> Answer<Receipt, Refusal>`; [`Attempt::key`] is the idempotency key
    /// that the service was given.
    fn find(&self, attempt: &Attempt<T>) -> impl Future<Output = ToolAnswer<T>> + Send {
        let _ = attempt;
        std::future::ready(Err(NoReceipt::unknown("this service cannot be asked")))
    }
}

impl<T: Callable, P: Perform<T>> Perform<T> for Arc<P> {
    const CONFINED: bool = P::CONFINED;

    fn check_call(&self, contract: &Contract) -> Result<(), InvalidContract> {
        P::check_call(self, contract)
    }

    fn perform(&self, call: &Call<T>) -> impl Future<Output = ToolAnswer<T>> + Send {
        P::perform(self, call)
    }

    fn find(&self, attempt: &Attempt<T>) -> impl Future<Output = ToolAnswer<T>> + Send {
        P::find(self, attempt)
    }
}

/// A service made from a function, see [`service_fn`].
#[derive(Debug, Clone, Copy)]
pub struct ServiceFn<F>(F);

/// Makes a service from a function, for small programs and tests.
///
/// ```
/// use machine::contract::{Action, Applied, service_fn};
///
/// let taken = service_fn(|_call: &machine::contract::Call<Action>| {
///     Box::pin(async { Ok(Applied::new("250 queued")) })
/// });
/// ```
pub fn service_fn<T, F>(function: F) -> ServiceFn<F>
where
    T: Callable,
    F: for<'a> Fn(&'a Call<T>) -> BoxFuture<'a, ToolAnswer<T>> + Send + Sync,
{
    ServiceFn(function)
}

impl<T, F> Perform<T> for ServiceFn<F>
where
    T: Callable,
    F: for<'a> Fn(&'a Call<T>) -> BoxFuture<'a, ToolAnswer<T>> + Send + Sync,
{
    fn perform(&self, call: &Call<T>) -> impl Future<Output = ToolAnswer<T>> + Send {
        (self.0)(call)
    }
}

impl<T: Tool<Effect = AnswersLater>> Call<T> {
    /// The token by which the service reports the outcome of this call, and of no other.
    ///
    /// The service decides once for each token: after it has reported "not applied", it must not
    /// carry out any request with the token.
    #[must_use]
    pub fn callback_token(&self) -> &CallbackToken {
        match &self.callback {
            Some(token) => token,
            None => unreachable!("the store issues the token with the permit of such a tool"),
        }
    }

    /// The path below the server's address to which the service sends its report, with the token as
    /// `Authorization: Bearer TOKEN`. See the module `http`.
    #[must_use]
    pub fn report_path(&self) -> String {
        format!("api/execution/{}/report", self.execution_id)
    }

    /// Answers that the service has accepted the call under its own reference, and will report the
    /// outcome within this time. The execution waits for the report, even after this process has
    /// ended. Without a report in time, it is in doubt.
    ///
    /// This answer counts only once the whole call has ended: while a guard of
    /// [`in_flight`](Self::in_flight) is alive, or if the answer comes through a guard, the outcome
    /// is unknown.
    ///
    /// # Errors
    ///
    /// None: the answer is an `Err`, because there is no receipt yet.
    pub fn accepted(&self, reference: impl Into<String>, within: Duration) -> ToolAnswer<T> {
        let reference = bounded(reference.into());
        Err(NoReceipt::Accepted(super::Accepted { reference, within }))
    }
}

/// A fencing token. Later permits of a store have larger tokens.
///
/// Its `Display` has a fixed width, so that tokens also compare as text.
///
/// ```
/// # fn example<T>(call: &machine::contract::Call<T>, highest_seen: machine::contract::Token) {
/// let is_stale = call.token < highest_seen;
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token {
    /// Of the store: it rises when a backup is put to use.
    generation: u64,
    /// Of the journal entry that issued the permit.
    sequence: u64,
}

impl Token {
    pub(crate) fn new(generation: u64, sequence: u64) -> Self {
        Self { generation, sequence }
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:020}-{:020}", self.generation, self.sequence)
    }
}
