//! Calls in doubt that an open question may repeat in other words.

use super::Observer;
use crate::{
    contract::{Gate, Progress},
    effects::Standing,
    language::Phrase,
    store::{LoadError, Query},
};

impl Observer {
    /// What to know before a gate is approved: another execution may be performing the same action,
    /// or calls of the same tool in the same session are in doubt. Then it has their arguments,
    /// like a question.
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now.
    pub async fn caution(&self, gate: &Gate) -> Result<Option<String>, LoadError> {
        Ok(self.standing(gate).await?.caution)
    }

    /// The checks on a gate before a person answers it.
    pub(super) async fn standing(&self, gate: &Gate) -> Result<Standing, LoadError> {
        let mut standing = self.store.standing(gate).await?;
        if standing.stale.is_none() && standing.caution.is_none() {
            standing.caution = self.reworded(gate).await?;
        }
        Ok(standing)
    }

    async fn reworded(&self, gate: &Gate) -> Result<Option<String>, LoadError> {
        let behind = gate.approval().execution();
        let Some(behind) = self.store.readable(behind).await? else { return Ok(None) };
        let contract = behind.context();
        let (Some(session), Some(tool)) = (contract.session_id(), contract.action().tool_parts())
        else {
            return Ok(None);
        };
        let suspects = self.store.suspects().await?.into_keys().collect();
        let ids = self.store.selected(&Query::new().session(session), suspects).await?;
        let mut cautions = Vec::new();
        for execution in self.store.executions(ids).await?.into_iter().flatten() {
            let called = execution.context();
            if called.action().tool_parts() == Some(tool) && Progress::of(&execution).is_in_doubt()
            {
                let id = execution.id();
                let mut caution = self.language.say(Phrase::InDoubtReworded, &[("id", &id)]);
                caution.push_str(&called.arguments_in(self.language));
                cautions.push(caution);
            }
        }
        Ok((!cautions.is_empty()).then(|| cautions.join("\n")))
    }
}
