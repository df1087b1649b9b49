use crate::{
    clock::Millis,
    id::Id,
    journal::{Digest, Entry},
};

/// The data of a durable machine that do not depend on its state: fixed at creation, the same in
/// every state.
///
/// `#[machine(durable, context = Order)]` declares one. The methods let a store enforce rules that
/// only the context knows; the defaults enforce nothing.
///
/// ```
/// use machine::erased::Context;
///
/// #[derive(Debug, serde::Serialize, serde::Deserialize)]
/// struct Order {
///     number: u64,
/// }
///
/// impl Context for Order {}
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the context of a durable machine",
    label = "this type does not say what it asks of stores",
    note = "write `impl machine::erased::Context for {Self} {{}}`; it asks nothing by default"
)]
pub trait Context: Send + Sync + 'static {
    /// The kind of the actor that creates machines with this context, for the journal.
    fn author(&self) -> Option<&str> {
        None
    }

    /// The data that stores index.
    fn projection(&self, _journal: &[Entry]) -> Projection {
        Projection::default()
    }

    /// Checks whether this history is allowed. Called at each commit and each load.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and how to fix it.
    fn admit(&self, _journal: &[Entry]) -> Result<(), Breach> {
        Ok(())
    }

    /// Generated code calls this, so that a missing implementation is reported only where the user
    /// names the type.
    #[doc(hidden)]
    fn __as_dyn(&self) -> &dyn Context
    where
        Self: Sized,
    {
        self
    }
}

impl Context for () {}

/// The rule of a context that a history breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Breach(pub(crate) String);

impl Breach {
    /// A breach with this message: what is wrong, and how to fix it.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// The index data of a machine, projected from its context and journal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Projection {
    /// The session of the machine.
    pub session: Option<String>,
    /// The idempotency key, whether held or not.
    pub key: Option<String>,
    /// The key is exclusive: one holder at a time, and no repetition after completion.
    pub exclusive: bool,
    /// The machine currently holds its key.
    pub holds_key: bool,
    /// The digest of the action; a key belongs to one action.
    pub action: Option<Digest>,
    /// The machine that must complete before this one may run.
    pub behind: Option<Id>,
    /// The digest of the action that this machine confirms.
    pub confirms: Option<Digest>,
    /// The permit without a definite answer, if any.
    pub permit: Option<Permitted>,
}

/// A permit without a definite answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permitted {
    /// The worker that got it.
    pub worker: String,
    /// When it expires (milliseconds since the Unix epoch).
    pub expires_at: Millis,
    /// The epoch in which it was issued.
    pub epoch: u64,
}
