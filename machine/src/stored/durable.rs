use std::sync::Arc;

use super::{Entered, OutcomeReader, Rules, Unread, Unwritten, Verified};
use crate::{
    clock::Millis,
    definition::Definition,
    journal::{Journal, Pass},
    typed::{Illegal, Reason, Refused},
};

/// A machine that a store can write, typed or erased. `#[machine(durable)]` implements it.
pub trait Durable: Send {
    /// The definition of the machine.
    fn definition(&self) -> &'static Definition;

    /// The current state, as an index into the definition's states.
    fn state_index(&self) -> usize;

    /// The journal.
    fn journal(&self) -> &Journal;

    #[doc(hidden)]
    fn __rules(&self) -> &dyn Rules;

    #[doc(hidden)]
    fn __journal_mut(&mut self, pass: Pass) -> &mut Journal;

    #[doc(hidden)]
    fn __state_text(&self) -> Result<String, Unwritten>;

    #[doc(hidden)]
    fn __context_text(&self) -> Result<Arc<str>, Unwritten>;

    /// The consequences of entering the current state. A store calls it in each try of the batch
    /// that enters the state or creates the machine, and never again.
    #[doc(hidden)]
    fn __entered(&self) -> Entered {
        Entered::default()
    }
}

/// An erased machine that can be loaded from storage. `#[machine(durable)]` implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the erased form of a durable machine",
    label = "this cannot be loaded from a store",
    note = "declare the machine with `#[machine(durable)]`, and name its erased form, such as `AnyOrder`"
)]
pub trait Restore: Durable + Sized + 'static {
    /// The definition of the machine.
    const DEFINITION: &'static Definition;

    /// Makes the move of a deadline that is due. Machines without deadlines have none.
    #[doc(hidden)]
    fn __fire_deadline(self, trigger: &str, _now: Millis) -> Result<Self, Refused<Self>> {
        let state = self.state_index();
        let reason = Illegal::__deadline(Self::DEFINITION, state, trigger, Reason::NoDeadline);
        Err(Refused { machine: self, reason })
    }

    /// Reads the outcomes of the calls of a state; `None` if it makes none.
    #[doc(hidden)]
    #[must_use]
    fn __outcomes(_state: usize) -> Option<OutcomeReader> {
        None
    }

    #[doc(hidden)]
    fn __restore(verified: Verified) -> Result<Self, Unread>;
}
