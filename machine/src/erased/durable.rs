use super::{Context, Verified};
use crate::{
    definition::Definition,
    journal::{Journal, Pass},
};

/// A machine that a store can keep, typed or erased. `#[machine(durable)]` implements it.
pub trait Durable: Send {
    /// The one table.
    fn definition(&self) -> &'static Definition;

    /// Where the machine is, as an index into the definition's states.
    fn state_index(&self) -> usize;

    /// What happened to it.
    fn journal(&self) -> &Journal;

    /// What its context asks of stores.
    fn rules(&self) -> &dyn Context;

    #[doc(hidden)]
    fn __journal_mut(&mut self, pass: Pass) -> &mut Journal;

    /// The state and the context as JSON text.
    #[doc(hidden)]
    fn __encode(&self) -> Result<(String, String), serde_json::Error>;
}

/// An erased machine that can come back from storage. `#[machine(durable)]` implements it.
pub trait Restore: Durable + Sized {
    /// The one table.
    const DEFINITION: &'static Definition;

    /// Makes the machine. Only a verified record can get here.
    #[doc(hidden)]
    fn __restore(verified: Verified) -> Result<Self, serde_json::Error>;
}
