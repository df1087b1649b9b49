//! The actions that a person can take on a machine.

use super::{NextStep, Observer};
use crate::view::{Audience, Human, Label, Snapshot};
use crate::{
    actor::Category,
    contract::{AnyExecution, Progress, execution},
    effects::retries::NotRetried,
    id::Id,
    store::{LoadError, backend::Messages, read::observe::Observed},
};

impl Observer {
    /// The actions that a person can take on a machine of any kind.
    ///
    /// # Errors
    ///
    /// The errors of [`Store::load`](crate::store::Store::load).
    pub async fn next(&self, id: Id) -> Result<Vec<NextStep>, LoadError> {
        let observed = self.store.observed_one(id).await?;
        let mut next = self.next_of(id, &observed).await?;
        let found = self.store.inner.backend.messages(Messages::SetAsideOf(id)).await?;
        let messages = found
            .into_iter()
            .flatten()
            .filter(|message| !observed.has_ended() && !observed.has_moved_since(message));
        let messages: Vec<_> = messages.map(|message| message.correlation).collect();
        let schedule = self.store.schedule(id).await?;
        let needs_requeue = schedule.is_some_and(|schedule| schedule.needs_requeue());
        if needs_requeue || !messages.is_empty() {
            next.insert(0, NextStep::Requeue { id, messages });
        }
        Ok(next)
    }

    async fn next_of(&self, id: Id, observed: &Observed) -> Result<Vec<NextStep>, LoadError> {
        if observed.definition.name == execution::DEFINITION.name {
            let execution = self.store.load::<AnyExecution>(id).await?;
            return self.next_of_execution(&execution).await;
        }
        if self.store.queued_answer(observed).await?.is_some() {
            // Another answer would be refused.
            return Ok(Vec::new());
        }
        let snapshot =
            Snapshot::<Human>::of_subject(&observed.subject(&self.own), self.store.now());
        Ok(next_of_machine(observed, &snapshot))
    }

    /// The trigger of the answer to a machine that its program has not applied yet.
    pub(crate) async fn answered_with(
        &self,
        observed: &Observed,
    ) -> Result<Option<String>, LoadError> {
        let answer = self.store.queued_answer(observed).await?;
        Ok(answer.map(|answer| answer.trigger().unwrap_or_default()))
    }

    /// The actions that a person can take on an execution.
    pub(crate) async fn next_of_execution(
        &self,
        execution: &AnyExecution,
    ) -> Result<Vec<NextStep>, LoadError> {
        let (id, contract) = (execution.id(), execution.context());
        Ok(match Label::of(execution) {
            Label::InDoubt => {
                let receipt = self.receipt_type(contract).await?;
                let mut next = vec![NextStep::Confirm { id, applied: true, receipt }];
                // Before it can be known, it would be refused.
                if let AnyExecution::Waiting(doubt) = execution
                    && let Ok(None) = self.store.unproven(doubt).await
                {
                    next.push(NextStep::Confirm { id, applied: false, receipt: None });
                }
                next
            }
            Label::Contradicted if Progress::of(execution).acknowledged_by.is_none() => {
                vec![NextStep::Acknowledge { id }]
            }
            Label::Waiting if contract.approves().is_some() => {
                match self.open_gate(id).await? {
                    Some(_) => vec![NextStep::Approve { id }, NextStep::Decline { id }],
                    // It has expired, or its execution has ended: it can no longer be answered.
                    None => vec![NextStep::Cancel { id }],
                }
            }
            Label::Waiting if Progress::of(execution).awaits_report() => {
                // Until its limit, its service reports.
                let is_overdue = self.is_overdue(execution);
                is_overdue.then_some(NextStep::Fence { id }).into_iter().collect()
            }
            Label::Waiting => vec![NextStep::Respond { id }, NextStep::Cancel { id }],
            Label::Deferred => match contract.behind() {
                Some(gate) if self.open_gate(gate).await?.is_some() => vec![
                    NextStep::Approve { id: gate },
                    NextStep::Decline { id: gate },
                    NextStep::Cancel { id },
                ],
                _ => vec![NextStep::Cancel { id }],
            },
            Label::NotStarted => vec![NextStep::Cancel { id }],
            // A worker is running it. Fence it only once it is overdue.
            Label::InProgress if self.is_overdue(execution) && contract.is_irreversible() => {
                vec![NextStep::Fence { id }]
            }
            Label::Failed => match self.store.not_retried(execution).await {
                Ok(None) => vec![NextStep::Retry { id }],
                Ok(Some(NotRetried::OfParent(parent))) => vec![NextStep::Show { id: parent }],
                Err(LoadError::Unavailable(error)) => return Err(error.into()),
                // An unreadable execution is not retried.
                Ok(Some(_)) | Err(_) => Vec::new(),
            },
            _ => Vec::new(),
        })
    }

    fn is_overdue(&self, running: &AnyExecution) -> bool {
        let call = Progress::of(running).unanswered();
        call.is_some_and(|call| call.expires_at < self.store.now())
    }
}

/// The actions that a person can take on a machine of any kind: its moves that are for people.
pub(super) fn next_of_machine<A: Audience>(
    observed: &Observed,
    snapshot: &Snapshot<A>,
) -> Vec<NextStep> {
    let id = snapshot.id;
    let moves = snapshot
        .moves
        .iter()
        .filter(|step| step.categories.is_empty() || step.categories.contains(&Category::Human));
    moves
        .map(|step| NextStep::SendEvent {
            id,
            trigger: step.trigger.clone(),
            payload: step.payload.clone(),
            seen: observed.is_question().then_some(snapshot.transition_count),
        })
        .collect()
}
