use crate::{
    clock::Millis,
    id::Id,
    journal::{Digest, Entry},
};

/// What a durable machine carries beside its state: fixed at creation, the same in every state.
///
/// `#[machine(durable, context = Order)]` names one. The methods let a store enforce what only
/// the context knows; the defaults ask for nothing.
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
    /// Who makes machines with this context, for the journal; a kind of actor.
    fn author(&self) -> Option<&str> {
        None
    }

    /// What stores index.
    fn projection(&self, _journal: &[Entry]) -> Projection {
        Projection::default()
    }

    /// Whether this history is one that may be on disk. Asked at each commit and each load.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and what to do instead.
    fn admit(&self, _journal: &[Entry]) -> Result<(), Breach> {
        Ok(())
    }

    /// Generated code asks through this, so that a type that is no context is told of where the
    /// user named it, and nowhere else.
    #[doc(hidden)]
    fn __as_dyn(&self) -> &dyn Context
    where
        Self: Sized,
    {
        self
    }
}

impl Context for () {}

/// A history that the rules of its context forbid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Breach(pub(crate) String);

impl Breach {
    /// Says what is wrong, and what to do instead.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// What a store finds a machine by, read off its context and journal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Projection {
    /// The session that the machine belongs to.
    pub session: Option<String>,
    /// The idempotency key, whether held or not.
    pub key: Option<String>,
    /// The key is for one machine at a time, and what it did is not done again.
    pub exclusive: bool,
    /// The machine holds its key now; no other machine may.
    pub holds_key: bool,
    /// The digest of the action behind the key: one key, one action.
    pub action: Option<Digest>,
    /// The machine whose completion this one waits for.
    pub behind: Option<Id>,
    /// The action that this machine confirms.
    pub confirms: Option<Digest>,
    /// The permit that is out and not answered for good.
    pub permit: Option<Permitted>,
}

/// A permit that is out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permitted {
    /// Who has it.
    pub worker: String,
    /// Until when (milliseconds since the Unix epoch).
    pub expires_at: Millis,
    /// The epoch that it was given in.
    pub epoch: u64,
}
