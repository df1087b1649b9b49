use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use serde_json::Value;

use crate::{
    contract::{Answer, Applied, Attempt, Call, NoReceipt, Perform, Tool, ToolAnswer},
    store::lock::lock,
};

/// The answer of a [`TestTool`] to one call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply<R, N = String> {
    /// The call took effect, with this receipt.
    Applied(R),
    /// Provably nothing happened, for this reason.
    Refused(N),
    /// The call has ended, and it is unknown whether it took effect, for this reason.
    Unknown(String),
    /// A part of the call was given up on, so that it counts as alive until its process ends.
    CutOff(String),
    /// The other reply, after this time. Longer than the timeout of the tool, it is late evidence.
    Late(Duration, Box<Reply<R, N>>),
    /// No answer, ever. The caller stops waiting at the timeout of the tool.
    Never,
}

impl<R, N> Reply<R, N> {
    /// The call took effect, with this receipt.
    pub fn applied(receipt: impl Into<R>) -> Self {
        Self::Applied(receipt.into())
    }

    /// Provably nothing happened.
    pub fn refused(reason: impl Into<N>) -> Self {
        Self::Refused(reason.into())
    }

    /// It is unknown whether the call took effect.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Self::Unknown(reason.into())
    }

    /// This reply, after this time.
    #[must_use]
    pub fn after(self, time: Duration) -> Self {
        Self::Late(time, Box::new(self))
    }
}

/// A service whose answers the test sets. Its clones are one service.
///
/// Each call takes the next reply; when none is left, the [fallback](Self::otherwise). Without a
/// fallback a call that the test did not expect is refused, or in doubt if the tool's refusal is no
/// text, with a reason that says so.
///
/// ```
/// use machine::contract::Tool;
/// use machine::testing::{Reply, TestTool};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
/// #[tool(bank.charge, irreversible)]
/// struct Charge {
///     cents: u32,
/// }
///
/// let bank = TestTool::<Charge>::new()
///     .replies(Reply::unknown("the line went dead"))
///     .otherwise(Reply::applied("receipt 7"));
/// assert!(bank.calls().is_empty());
/// ```
pub struct TestTool<T: Tool>(Arc<Mutex<Script<T::Receipt, T::Refusal>>>);

struct Script<R, N> {
    replies: VecDeque<Reply<R, N>>,
    fallback: Option<Reply<R, N>>,
    found: Option<Reply<R, N>>,
    /// The arguments of the calls, as JSON.
    calls: Vec<Value>,
}

impl<T: Tool<Receipt: Clone, Refusal: Clone>> TestTool<T> {
    /// A service that expects no call.
    #[must_use]
    pub fn new() -> Self {
        let script =
            Script { replies: VecDeque::new(), fallback: None, found: None, calls: Vec::new() };
        Self(Arc::new(Mutex::new(script)))
    }

    /// Adds the reply to one more call.
    #[must_use = "it is the same service"]
    pub fn replies(self, reply: Reply<T::Receipt, T::Refusal>) -> Self {
        self.script().replies.push_back(reply);
        self
    }

    /// Sets the reply to every call for which none was added.
    #[must_use = "it is the same service"]
    pub fn otherwise(self, reply: Reply<T::Receipt, T::Refusal>) -> Self {
        self.script().fallback = Some(reply);
        self
    }

    /// Sets the answer to the status query, [`Perform::find`]; by default it is unknown.
    #[must_use = "it is the same service"]
    pub fn finds(self, reply: Reply<T::Receipt, T::Refusal>) -> Self {
        self.script().found = Some(reply);
        self
    }

    /// The arguments of all calls so far, oldest first. Status queries do not count.
    ///
    /// # Panics
    ///
    /// If the arguments of a call cannot be read back from their JSON.
    #[must_use]
    pub fn calls(&self) -> Vec<T> {
        let calls = self.script().calls.clone();
        let read = |arguments| serde_json::from_value(arguments);
        calls.into_iter().map(|it| read(it).expect("arguments are read back")).collect()
    }

    fn script(&self) -> MutexGuard<'_, Script<T::Receipt, T::Refusal>> {
        lock(&self.0)
    }
}

impl<T: Tool<Receipt: Clone, Refusal: Clone>> Default for TestTool<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Tool> Clone for TestTool<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Tool> fmt::Debug for TestTool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestTool").field("service", &T::SERVICE).finish_non_exhaustive()
    }
}

impl<T: Tool<Receipt: Clone, Refusal: Clone>> Perform<T> for TestTool<T> {
    async fn perform(&self, call: &Call<T>) -> ToolAnswer<T> {
        let arguments = serde_json::to_value(&call.arguments)?;
        let reply = {
            let mut script = self.script();
            script.calls.push(arguments);
            script.replies.pop_front().or_else(|| script.fallback.clone())
        };
        // A refusal of another type than a text cannot be made here.
        let refusal = || serde_json::from_value(UNEXPECTED.into());
        let unexpected = || refusal().map_or_else(|_| Reply::unknown(UNEXPECTED), Reply::Refused);
        answer(reply.unwrap_or_else(unexpected)).await
    }

    async fn find(&self, _: &Attempt<T>) -> ToolAnswer<T> {
        let found = self.script().found.clone();
        answer(found.unwrap_or_else(|| Reply::unknown("this service cannot be asked"))).await
    }
}

/// The reason for refusing a call without a reply.
const UNEXPECTED: &str = "the test has set no reply to this call: add one with `TestTool::replies`";

async fn answer<R, N>(mut reply: Reply<R, N>) -> Answer<R, N> {
    loop {
        reply = match reply {
            Reply::Applied(receipt) => return Ok(Applied::new(receipt)),
            Reply::Refused(reason) => return Err(NoReceipt::NotApplied(reason)),
            Reply::Unknown(reason) => return Err(NoReceipt::Unknown(reason)),
            Reply::CutOff(reason) => return Err(NoReceipt::CutOff(reason)),
            Reply::Late(time, reply) => {
                tokio::time::sleep(time).await;
                *reply
            }
            Reply::Never => std::future::pending().await,
        };
    }
}
