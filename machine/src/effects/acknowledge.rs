use crate::{
    actor::Human,
    actor::who::who,
    contract::{AnyExecution, CallFact, append},
    effects::{error::EffectError, retry::Retry},
    store::{handle::Store, operation::Act},
};

impl Store {
    /// Records that a person has seen and handled the contradiction between a receipt and the end
    /// of an execution. The execution needs no attention until another receipt arrives. Its label
    /// stays CONTRADICTED.
    ///
    /// # Errors
    ///
    /// [`CommitError::Refused`](crate::store::CommitError::Refused) if nothing contradicts its end,
    /// or a person has acknowledged it already;
    /// [`CommitError::Conflict`](crate::store::CommitError::Conflict) if it has changed since it
    /// was loaded.
    pub async fn acknowledge(
        &self,
        mut contradicted: AnyExecution,
        by: &Human,
    ) -> Result<AnyExecution, EffectError> {
        let act = Act::new(by, "acknowledge", &[contradicted.id()], "");
        let fact = CallFact::Acknowledged { at: self.now() };
        append(&mut contradicted, who(by), fact);
        let batch = self.batch().act(Some(act.clone())).commit(&mut contradicted);
        let written = batch.write_with(Retry::default()).await;
        self.log_refusal([act], written).await?;
        Ok(contradicted)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
