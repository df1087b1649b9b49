//! Requirements of a batch: open gates, and the parents of retries.

use crate::{
    effects::{error::EffectError, gate_state::GateState},
    store::{
        error::{CommitError, LoadError},
        handle::Store,
        write::prepare::Prepared,
    },
    stored::{Breach, Durable, Hold, Index, Requirement},
};

/// Refuses a machine that no program of this store may write as it is.
pub(crate) fn may_be_stored(machine: &dyn Durable, ready: &Prepared) -> Result<(), EffectError> {
    let (id, is_new) = (ready.write.row.id, ready.write.expected.is_none());
    check_kind(machine).map_err(|breach| CommitError::Refused { id, breach })?;
    if is_new && machine.journal().imported {
        check_import(machine, &ready.index)?;
    }
    Ok(())
}

impl Store {
    /// Refuses a new attempt at what a child did: a machine decides itself what follows when one of
    /// its calls fails, and would not see the attempt.
    pub(super) async fn repeats_no_child(&self, ready: &Prepared) -> Result<(), EffectError> {
        let (id, is_new) = (ready.write.row.id, ready.write.expected.is_none());
        let Some(failed) = ready.index.retry_of.filter(|_| is_new) else { return Ok(()) };
        match self.inner.backend.parent(failed).await?.map_err(LoadError::from) {
            Ok(Some(parent)) => Err(EffectError::OfParent { id: failed, parent }),
            Ok(None) => Ok(()),
            Err(error) => Err(EffectError::unread(id, error)),
        }
    }

    /// Refuses a machine that leaves its initial state without the approval that it needs. The gate
    /// may be answered by the same batch; `known` is one that was loaded for this batch. Returns
    /// what must hold of the gate when the machine is written.
    pub(super) async fn gate_is_open(
        &self,
        ready: &Prepared,
        batch: &[Prepared],
        known: Option<GateState>,
    ) -> Result<Option<Requirement>, EffectError> {
        let id = ready.write.row.id;
        let Some(gate) = ready.gate else { return Ok(None) };
        let known = known.filter(|known| known.gate == gate);
        let state = match GateState::in_batch(gate, batch).or(known) {
            Some(state) => state,
            None => self.gate_state(id, gate).await?,
        };
        state.opens(id, ready.index.call, self.now()).map(Some)
    }
}

/// The names of the machines of this library, also of those whose feature is off.
const RESERVED: [&str; 2] = ["execution", "agent_head"];

/// The names and the contexts of the machines of this library belong to them: no other machine
/// moves its executions, or the heads of its agents.
fn check_kind(machine: &dyn Durable) -> Result<(), Breach> {
    let (definition, owner) = (machine.definition(), machine.__rules().__owner());
    let name = &*definition.name;
    match owner {
        Some(owner) if owner.fingerprint == definition.fingerprint => Ok(()),
        _ if RESERVED.contains(&name) => {
            Err(Breach::new(format!("the name `{name}` is reserved; rename this machine")))
        }
        Some(owner) => Err(Breach::new(format!(
            "its context is only for the library's `{}`; give this machine its own context",
            owner.name
        ))),
        None => Ok(()),
    }
}

/// Refuses imported machines that could act: data can be imported into several stores, each of
/// which could perform an irreversible action, and no actor gave an answer that was read from data.
fn check_import(machine: &dyn Durable, after: &Index) -> Result<(), EffectError> {
    let has_ended = machine.definition().states[machine.state_index()].terminal;
    let is_answered = after.approves.as_ref().is_some_and(|gate| gate.decision.is_some());
    let is_approved = after.is_approved && !has_ended;
    let is_open = after.exclusive && after.hold == Hold::Free && !after.closed;
    if is_answered || is_approved || is_open {
        return Err(EffectError::Imported { id: machine.journal().id() });
    }
    Ok(())
}
