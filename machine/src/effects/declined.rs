//! Actions that a person declined.

use crate::{
    contract::{ApprovalRequest, Closing, Contract, Decision, Progress},
    effects::error::EffectError,
    id::Id,
    journal::Digest,
    store::{
        backend::Condition,
        error::{LoadError, Unavailable},
        handle::Store,
        read::query::Query,
    },
};

impl Store {
    /// The action of an irreversible call that ended because a person declined it. `None` for any
    /// other one, and for one that cannot be read.
    pub(crate) async fn declined_action(&self, call: Id) -> Result<Option<Digest>, Unavailable> {
        let declined = self.readable(call).await?.filter(|call| {
            let contract = call.context();
            let has_key = contract.is_irreversible() && contract.idempotency_key().is_some();
            has_key && matches!(Progress::of(call).closed, Some(Closing::Declined { .. }))
        });
        Ok(declined.map(|call| call.context().action().digest()))
    }

    /// Refuses an irreversible action that no person approved, if the newest answer of a person to
    /// a question about it was no. A new question, or a person who retries it, is an approval.
    /// Returns the condition that no other answer comes before the execution begins.
    pub(super) async fn not_declined(
        &self,
        id: Id,
        contract: &Contract,
    ) -> Result<Option<Condition>, EffectError> {
        let is_asked = contract.behind().is_some() || contract.decided_by().is_some();
        if !contract.is_irreversible() || is_asked {
            return Ok(None);
        }
        let Some(key) = contract.idempotency_key() else { return Ok(None) };
        let after = self.inner.backend.newest().await?;
        match self.newest_answer(id, contract).await? {
            Some((gate, Decision { approved: false, by, at, .. })) => {
                Err(EffectError::Declined { id, gate, by, at })
            }
            _ => Ok(Some(Condition::NoNewAnswer { id, key: key.to_string(), after })),
        }
    }

    /// The newest answer of a person to a question about this action, with its gate. One that is
    /// pruned or cannot be read does not stop the rest.
    async fn newest_answer(
        &self,
        id: Id,
        contract: &Contract,
    ) -> Result<Option<(Id, Decision)>, EffectError> {
        let unread = |error: LoadError| EffectError::unread(id, error);
        let Some(key) = contract.idempotency_key() else { return Ok(None) };
        let mut next = Some(Query::new().key(key.as_str()).gated());
        let mut newest: Option<(Id, Decision)> = None;
        while let Some(query) = next {
            let page = self.list(&query).await.map_err(unread)?;
            let lines = page.items.into_iter().flatten();
            let gates: Vec<Id> = lines.filter_map(|line| line.behind).collect();
            let loaded = self.executions(gates.clone()).await.map_err(unread)?;
            for (gate, loaded) in gates.iter().zip(loaded) {
                let Some(loaded) = LoadError::readable(loaded)? else { continue };
                let Some(decision) = Progress::of(&loaded).decision else { continue };
                // A yes is for this action only, and until it ends; a no is for everything under
                // the key.
                let about = loaded.context().approves().map(ApprovalRequest::action);
                let is_for_this = about == Some(contract.action().digest());
                if decision.approved
                    && !(is_for_this && decision.expires_at.is_none_or(|at| at > self.now()))
                {
                    continue;
                }
                // Of two simultaneous answers, the one that declines.
                let order = |decision: &Decision| (decision.at, !decision.approved);
                if newest.as_ref().is_none_or(|(_, known)| order(known) < order(&decision)) {
                    newest = Some((*gate, decision));
                }
            }
            next = page.next.map(|next| query.after(next));
        }
        Ok(newest)
    }
}
