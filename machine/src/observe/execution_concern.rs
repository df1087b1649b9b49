//! The concern about one execution.

use super::{Concern, ConcernReason, Observer, OpenCall};
use crate::{
    contract::{AnyExecution, Progress, waits_for},
    effects::Unproven,
    store::LoadError,
    stored::Durable,
    view::{Audience, Label},
};

impl Observer {
    pub(super) async fn concern_of_execution<A: Audience>(
        &self,
        reason: ConcernReason,
        execution: &AnyExecution,
    ) -> Result<Concern<A>, LoadError> {
        let contract = execution.context();
        let (mut question, mut cause) = (None, None);
        if let AnyExecution::Waiting(waiting) = execution
            && !Progress::of(execution).awaits_report()
        {
            question = Some(waits_for(waiting, self.language));
            if contract.approves().is_some()
                && let Some(gate) = self.waiting_gate(execution.id()).await?
            {
                // Why it can no longer be approved, or what to know before.
                let standing = self.standing(&gate).await?;
                cause = standing.stale.or(standing.caution);
            }
        }
        let summary = contract.summary_in(self.language).into_owned();
        Ok(Concern {
            machine: Some(execution.definition().name.to_string()),
            status: Some(execution.status().definition().name.to_string()),
            label: Some(Label::of(execution).to_string()),
            session: contract.session_id().map(str::to_owned),
            question,
            open_call: self.open_call(execution).await,
            cause,
            reference: A::__internal(|| Progress::of(execution).reference().map(str::to_owned)),
            since: Some(execution.journal().past().entered_at),
            transition_count: Some(execution.journal().past().transitions),
            next: self.next_of_execution(execution).await?,
            ..Concern::new(reason, Some(execution.id()), summary)
        })
    }

    /// The call of an execution in doubt, if it can still take effect for certain.
    pub(super) async fn open_call(&self, execution: &AnyExecution) -> Option<OpenCall> {
        let progress = Progress::of(execution);
        let doubt = match execution {
            AnyExecution::Waiting(doubt) if progress.is_in_doubt() => doubt,
            _ => return None,
        };
        let settles_at = match self.store.unproven(doubt).await {
            Ok(Some(Unproven::Settling(until))) => Some(until),
            Ok(Some(Unproven::Running)) => None,
            // The question mentions a liveness that cannot be determined.
            Ok(Some(Unproven::Unknown) | None) | Err(_) => return None,
        };
        let process = progress.process()?.clone();
        Some(OpenCall { process, cut_off_at: progress.cut_off_at(), settles_at })
    }
}
