//! Copies of the library's own machines, and the facts that they get.

use super::{CallFact, Execution};
use crate::{actor::who::Who, journal::Pass, stored::Durable};

pub(crate) fn append(machine: &mut dyn Durable, by: Who<'_>, fact: CallFact) {
    machine.__journal_mut(Pass::new()).append(Some(by), fact.into_fact());
}

/// A copy to move and commit; the original stays as it was if nothing is written.
pub(crate) fn fork<S: Clone>(execution: &Execution<S>) -> Execution<S> {
    execution.__fork(Pass::new())
}
