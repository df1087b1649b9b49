use serde::{Serialize, de::DeserializeOwned};

use super::{Index, Rules};
use crate::{
    definition::{Definition, Mark},
    id::Id,
    journal::Entry,
};

/// The data of a durable machine that do not depend on its state: fixed at creation, the same in
/// every state.
///
/// `#[machine(durable, context = Order)]` declares one. The methods let a store enforce rules that
/// only the context knows; the defaults enforce nothing.
///
/// ```
/// use machine::stored::Context;
///
/// #[derive(Debug, serde::Serialize, serde::Deserialize)]
/// struct Order {
///     number: u64,
/// }
///
/// impl Context for Order {
///     type Summary = ();
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the context of a durable machine",
    label = "this type does not implement `Context`",
    note = "write `impl machine::stored::Context for {Self} {{ type Summary = (); }}`; it asks nothing by default"
)]
pub trait Context: Send + Sync + 'static {
    /// The past, as far as the rules of this context need it: a fold over the journal, stored with
    /// the machine, so that no rule needs the whole journal. It should stay below 1 KiB.
    ///
    /// `()` if the rules need nothing.
    type Summary: Default + Serialize + DeserializeOwned;

    /// The format of [`Summary`](Self::Summary). Raise it when [`fold`](Self::fold) changes: a
    /// machine whose summary has another format is folded again from its whole journal.
    const FORMAT: u32 = 0;

    /// The audiences of the members of this context in views; only the program sees members without
    /// a mark.
    const MARKS: &'static [Mark] = &[];

    /// The kind of the actor that creates machines with this context, for the journal. The kinds of
    /// the actors of this library, such as `human`, are not for it: a store refuses the machine.
    fn author(&self) -> Option<&str> {
        None
    }

    /// Adds the next entry of the journal to the summary.
    ///
    /// # Errors
    ///
    /// The violation and its fix, if a rule of this context forbids the entry.
    fn fold(&self, _summary: &mut Self::Summary, _entry: &Entry) -> Result<(), Breach> {
        Ok(())
    }

    /// Checks the state that a commit leaves.
    ///
    /// # Errors
    ///
    /// The violation and its fix, if a rule of this context forbids it.
    fn check(&self, _summary: &Self::Summary) -> Result<(), Breach> {
        Ok(())
    }

    /// Projects the part that stores index.
    fn index(&self, _summary: &Self::Summary) -> Index {
        Index::default()
    }

    #[doc(hidden)]
    fn __author_name(&self) -> Option<&str> {
        None
    }

    /// The id of the machine, if it was chosen before it is created.
    #[doc(hidden)]
    fn __id(&self) -> Option<Id> {
        None
    }

    /// The machine of this library that alone has this context.
    #[doc(hidden)]
    fn __owner(&self) -> Option<&'static Definition> {
        None
    }

    /// Generated code calls this, so that a missing implementation is reported only where the user
    /// names the type.
    #[doc(hidden)]
    fn __as_dyn(&self) -> &dyn Rules
    where
        Self: Sized,
    {
        self
    }
}

impl Context for () {
    type Summary = ();
}

/// The rule of a context that a history breaks.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Breach(pub(crate) String);

impl Breach {
    /// A breach with this message: the violation and its fix.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}
