//! Gates in a batch: what ends with them, and what they open.

use serde_json::Value;

use crate::{
    __private::who,
    actor::{EcsNode, Human},
    clock::Millis,
    contract::{
        AnyExecution, ApprovalEnd, Execution, close,
        execution::{Cancelled, Status},
    },
    id::Id,
    store::{
        error::{CommitError, LoadError},
        handle::Store,
        write::prepare::Prepared,
    },
    stored::Durable,
};

impl Store {
    /// Adds the ends of the actions that never run, because their gates end in this batch without an approval:
    /// they end with them, whoever ends the gates. One that cannot be read keeps no gate from ending.
    pub(crate) async fn refused(
        &self,
        batch: &mut Vec<Prepared>,
        commit_id: i64,
    ) -> Result<Vec<Execution<Cancelled>>, CommitError> {
        let mut refused = Vec::new();
        for Prepared { write, index, .. } in &*batch {
            let Some(approves) = &index.approves else { continue };
            let (row, action) = (&write.row, approves.execution);
            let is_in_batch = batch.iter().any(|other| other.write.row.id == action);
            if !row.ended || row.status.parse() == Ok(Status::Completed) || is_in_batch {
                continue;
            }
            let pending = match Box::pin(self.load::<AnyExecution>(action)).await {
                Ok(AnyExecution::Pending(it)) if it.context().behind() == Some(row.id) => it,
                Err(LoadError::Unavailable(error)) => return Err(error.into()),
                _ => continue,
            };
            let state: Value = serde_json::from_str(&row.state).unwrap_or_default();
            let why = state["reason"].as_str().unwrap_or(&row.status);
            // The name in the decision was one before.
            let person = approves.decision.as_ref().and_then(|it| Human::new(&it.by).ok());
            let by = person.as_ref().map_or(who(&EcsNode::STORE), who);
            refused.push(close(pending, &format!("not approved: {why}"), by, &EcsNode::STORE));
        }
        for action in &mut refused {
            batch.extend(self.prepare(action, false, commit_id)?);
        }
        Ok(refused)
    }

    /// A machine decides itself what follows when one of its children fails, and does not see an attempt that is
    /// not its child. So a new attempt at what a child did is a child of the same machine.
    pub(crate) async fn joins_parent(
        &self,
        ready: &Prepared,
        children: &[(Id, Id)],
    ) -> Result<(), CommitError> {
        let (id, is_new) = (ready.write.row.id, ready.write.expected.is_none());
        let Some(failed) = ready.index.retry_of.filter(|_| is_new) else { return Ok(()) };
        match self.inner.backend.parent(failed).await?.map_err(LoadError::from) {
            Ok(Some(parent)) if !children.contains(&(id, parent)) => {
                Err(CommitError::OfParent { id: failed, parent })
            }
            Ok(_) => Ok(()),
            Err(source) => Err(CommitError::Gate { id, source: Box::new(source) }),
        }
    }

    /// The gate of a machine was approved by a person, for this execution and this exact
    /// action, and the approval has not expired. It may be given by the same batch. A stored gate is
    /// verified like every machine; it cannot change any more, because COMPLETED is terminal. Since
    /// an approval is for one execution, and that leaves PENDING once, it is used once.
    /// Returns the gate, and when its approval ends.
    pub(crate) async fn gate_is_open(
        &self,
        ready: &Prepared,
        batch: &[Prepared],
    ) -> Result<Option<(Id, Millis)>, CommitError> {
        let id = ready.write.row.id;
        // What a policy repeats has no gate of its own, but the end of the approval that it goes back to.
        let end = ready.approval_end.map(|ApprovalEnd { gate, at, .. }| (gate, at));
        if let Some((gate, at)) = end.filter(|(_, at)| !self.is_in_time(Some(*at))) {
            return Err(CommitError::ApprovalExpired { id, gate, at });
        }
        let Some(gate) = ready.gate else { return Ok(end) };
        let (status, approves) =
            match batch.iter().find(|other| other.write.row.id == gate && other.index.contract) {
                Some(other) => {
                    // The statuses of a contract are those of `Execution`.
                    let status = other.write.row.status.parse().unwrap_or(Status::Pending);
                    (status, other.index.approves.clone())
                }
                None => match self.load::<AnyExecution>(gate).await {
                    Ok(stored) => {
                        let part = &stored.journal().stored().summary.context;
                        let folded = stored.__rules().__fold(part, &[]);
                        let folded =
                            folded.map_err(|breach| CommitError::Refused { id, breach })?;
                        (stored.status(), folded.after.approves)
                    }
                    Err(LoadError::Unavailable(error)) => return Err(error.into()),
                    Err(error) => return Err(CommitError::Gate { id, source: Box::new(error) }),
                },
            };
        match status {
            Status::Completed => {
                let approves = approves
                    .filter(|approves| approves.execution == id)
                    .filter(|approves| Some(approves.action) == ready.index.call)
                    .ok_or(CommitError::OtherAction { id, gate })?;
                let approved = approves.decision.filter(|decision| decision.approved);
                let decision = approved.ok_or(CommitError::NotApproved { id, gate })?;
                match decision.expires_at {
                    Some(at) if !self.is_in_time(Some(at)) => {
                        Err(CommitError::ApprovalExpired { id, gate, at })
                    }
                    expires_at => Ok(expires_at.map(|at| (gate, at)).or(end)),
                }
            }
            Status::Failed | Status::Rejected | Status::Cancelled => {
                Err(CommitError::NeverRuns { id, gate, status })
            }
            Status::Pending | Status::Running | Status::Waiting => {
                Err(CommitError::Deferred { id, gate, status })
            }
        }
    }
}
