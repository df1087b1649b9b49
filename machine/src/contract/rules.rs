//! The rules of executions: which facts may follow which, for calls and for gates.

use std::time::Duration;

use super::{
    CallFact, Contract, Evidence, Progress,
    execution::{self, Status},
    progress::SettledAs,
};
use crate::{
    clock::{Millis, later},
    definition::{Definition, Mark},
    id::Id,
    journal::{Digest, Entry, Fact},
    stored::{Approves, Breach, Context, Index, ToolUse},
};

impl Context for Contract {
    type Summary = Progress;

    const FORMAT: u32 = 1;

    /// The raw action and its notes are internal.
    const MARKS: &'static [Mark] = &[
        Mark::human("summary"),
        Mark::human("summaries"),
        Mark::human("questions"),
        Mark::human("irreversible"),
        Mark::diagnostic("effect"),
        Mark::diagnostic("idempotency_key"),
        Mark::diagnostic("timeout_ms"),
        Mark::diagnostic("settling_ms"),
        Mark::human("session"),
        Mark::diagnostic("behind"),
        Mark::diagnostic("approves"),
        Mark::diagnostic("retry_of"),
        Mark::diagnostic("decided_by"),
    ];

    fn author(&self) -> Option<&str> {
        Some(self.made_by().0)
    }

    fn __author_name(&self) -> Option<&str> {
        self.made_by().1
    }

    fn __id(&self) -> Option<Id> {
        self.execution_id()
    }

    fn __owner(&self) -> Option<&'static Definition> {
        Some(execution::DEFINITION)
    }

    /// An irreversible action runs only under a permit, leaves RUNNING only with evidence, and ends
    /// only when its outcome is known. A gate completes only by a decision.
    fn fold(&self, progress: &mut Progress, entry: &Entry) -> Result<(), Breach> {
        let fact = match &entry.fact {
            Fact::Recorded { .. } => Some(CallFact::of(entry).ok_or_else(|| {
                Breach::new(
                    "its journal contains a fact unknown to this program; update the program",
                )
            })?),
            _ => None,
        };
        progress.admit_ending(&entry.fact, fact.as_ref())?;
        if self.is_irreversible() {
            progress.admit_call(&entry.fact, fact.as_ref(), self.settling_time())?;
        }
        progress.admit_answer(self, entry, fact.as_ref())?;
        if let Some(CallFact::Acknowledged { .. }) = &fact {
            progress.admit_acknowledgement(entry)?;
        }
        progress.take(entry, fact);
        if let (Fact::Created { .. }, Some(person)) = (&entry.fact, self.decided_by()) {
            let (kind, name) = self.made_by();
            if (entry.actor.as_deref(), entry.by.as_deref()) != (Some(kind), name) {
                return Err(Breach::new("its journal and its contract name different deciders"));
            }
            progress.approved_by = Some(person.to_owned());
        }
        Ok(())
    }

    fn check(&self, progress: &Progress) -> Result<(), Breach> {
        let running = progress.status == Status::Running;
        if self.is_irreversible() && progress.verdict == Some(SettledAs::Unknown) && running {
            return Err(Breach::new(
                "the action is in doubt, so it cannot resume; confirm that it took effect, or that \
                 it did not",
            ));
        }
        if progress.accepted.is_some() && running {
            return Err(unreported());
        }
        if matches!(progress.verdict, Some(SettledAs::Applied | SettledAs::NotApplied))
            && progress.accepted.is_some()
            && !progress.has_ended()
        {
            return Err(Breach::new("a report settles its execution in one commit"));
        }
        if progress.decision.is_some() && (running || progress.status == Status::Waiting) {
            return Err(Breach::new(
                "a gate is decided and completed in one commit; use `approve` or `decline`",
            ));
        }
        if progress.closed.is_some() && !progress.has_ended() {
            return Err(Breach::new("an execution is closed in one commit; use `cancel`"));
        }
        Ok(())
    }

    fn index(&self, progress: &Progress) -> Index {
        let behind = self.behind();
        Index {
            session: self.session_id().map(str::to_owned),
            key: self.idempotency_key().map(ToString::to_string),
            exclusive: self.is_irreversible(),
            hold: progress.hold(),
            // A contract's key is derived from its action, so it identifies only this action.
            action: self
                .idempotency_key()
                .filter(|_| self.is_irreversible())
                .map(|key| Digest::of(&[key.as_str().as_bytes()])),
            call: behind.map(|_| self.action().digest()),
            is_approved: progress.approved_by.is_some(),
            retry_of: self.retry_of(),
            behind,
            approves: self.approves().map(|approval| Approves {
                execution: approval.execution(),
                action: approval.action(),
                decision: progress.decision.clone(),
            }),
            permit: progress.unanswered(),
            // A hint raises the risk of this call, not that of the tool.
            tool: (self.effect().is_irreversible() == self.is_irreversible())
                .then(|| self.action().tool())
                .flatten()
                .map(|call| ToolUse {
                    name: call.name(),
                    irreversible: self.is_irreversible(),
                    identity: call.identity.is_some(),
                    begins: false,
                }),
            closed: progress.closed.is_some(),
            contract: true,
            contradicted: progress.is_contradicted(),
            acknowledged: progress.acknowledged_by.is_some(),
            // The worker, which may be alive, or the service, until its limit, can still say what
            // happened.
            answer_until: (progress.overridden_by.is_some()
                && !progress.applied
                && progress.refused.is_none())
            .then(|| progress.ended_at.unwrap_or(Millis::MAX)),
        }
    }
}

impl Progress {
    /// An execution that was never called ends at once.
    fn admit_ending(&self, fact: &Fact, call: Option<&CallFact>) -> Result<(), Breach> {
        if matches!(call, Some(CallFact::Closed { .. })) && self.status != Status::Pending {
            return Err(Breach::new("only a PENDING execution can be closed"));
        }
        match fact {
            Fact::Moved { trigger, .. }
                if self.closed.is_some() && !matches!(&**trigger, "start" | "cancel") =>
            {
                Err(Breach::new("it was closed, so it can only be cancelled"))
            }
            _ if self.closed.is_some() && call.is_some() => {
                Err(Breach::new("it was closed and can no longer change"))
            }
            _ => Ok(()),
        }
    }

    /// Checks the next fact of an irreversible execution.
    fn admit_call(
        &self,
        fact: &Fact,
        call: Option<&CallFact>,
        settling_time: Duration,
    ) -> Result<(), Breach> {
        if let Fact::Moved { to, trigger, .. } = fact {
            match (trigger.as_ref(), to.parse::<Status>()) {
                ("start", _) if !self.held && self.closed.is_none() => {
                    return Err(Breach::new(
                        "the action is irreversible and was started without `begin`; start it \
                         through `begin`, which takes the key and issues a permit",
                    ));
                }
                ("suspend", _)
                    if self.permit.is_some()
                        && self.verdict.is_none()
                        && self.accepted.is_none() =>
                {
                    return Err(Breach::new(
                        "the call may still be in flight; settle its outcome, or let `recover` \
                         fence its worker",
                    ));
                }
                ("resume", _) if self.awaits_report() => return Err(unreported()),
                (_, Ok(end)) if end.definition().terminal => self.may_end_as(end)?,
                _ => {}
            }
        }
        match call {
            Some(CallFact::Accepted { epoch, .. }) => self.admit_accepted(*epoch),
            Some(CallFact::Evidence { epoch, evidence, late }) => {
                if self.permit.as_ref().is_none_or(|permit| permit.epoch != *epoch) {
                    return Err(Breach::new(
                        "the evidence does not match the permit of this execution",
                    ));
                }
                if !late {
                    self.admit_evidence(evidence)?;
                }
                Ok(())
            }
            Some(CallFact::Confirmed { applied, at, overridden, .. }) => {
                self.admit_confirmation(*applied, *at, *overridden, settling_time)
            }
            Some(CallFact::Permitted { .. }) if self.permit.is_some() => {
                Err(Breach::new("already permitted once; retry with a new execution"))
            }
            _ => Ok(()),
        }
    }

    fn admit_accepted(&self, epoch: u64) -> Result<(), Breach> {
        let permit = self.permit.as_ref().filter(|permit| permit.epoch == epoch);
        if permit.is_none_or(|permit| permit.callback.is_none()) {
            return Err(Breach::new("no service can report about this call"));
        }
        if !self.is_running_under(epoch) || self.accepted.is_some() || self.applied {
            return Err(Breach::new("the outcome of the call is already recorded"));
        }
        Ok(())
    }

    /// The outcome of the call, or one that arrived late and is taken now.
    fn admit_evidence(&self, evidence: &Evidence) -> Result<(), Breach> {
        match (self.verdict, evidence) {
            (None, Evidence::NotApplied(_)) if self.applied => Err(contradiction()),
            (None, _) => Ok(()),
            (Some(SettledAs::Unknown), Evidence::Applied(_)) if self.applied => Ok(()),
            (Some(SettledAs::Unknown), Evidence::NotApplied(_)) if self.applied => {
                Err(contradiction())
            }
            (Some(SettledAs::Unknown), Evidence::NotApplied(_)) if self.is_refused() => Ok(()),
            _ => Err(Breach::new("the outcome of the call is already recorded and is final")),
        }
    }

    fn admit_confirmation(
        &self,
        applied: bool,
        at: Millis,
        overridden: bool,
        settling_time: Duration,
    ) -> Result<(), Breach> {
        if !self.is_in_doubt() {
            return Err(Breach::new("it is not in doubt; there is nothing to confirm"));
        }
        if applied {
            return Ok(());
        }
        if self.applied {
            return Err(contradiction());
        }
        if overridden || self.is_refused() {
            return Ok(());
        }
        match self.ended_at {
            None => Err(Breach::new(
                "its worker may still be alive; wait until it has ended, or override",
            )),
            Some(ended_at) if at < self.settled_at(ended_at, settling_time) => Err(Breach::new(
                "the call may still take effect; wait for the settling time of its tool, \
                 or override",
            )),
            Some(_) => Ok(()),
        }
    }

    /// The time from which "it did not take effect" counts. Without a settling time it counts as
    /// soon as the end of the call is recorded, whatever the clock shows now; but what a service
    /// has accepted ends at its limit, which may be in the future.
    pub(crate) fn settled_at(&self, ended_at: Millis, settling_time: Duration) -> Millis {
        if settling_time.is_zero() && self.accepted.is_none() {
            return Millis::MIN;
        }
        later(ended_at, settling_time)
    }

    fn may_end_as(&self, end: Status) -> Result<(), Breach> {
        match (end, self.verdict) {
            (Status::Completed, Some(SettledAs::Applied)) => Ok(()),
            (Status::Completed, _) => Err(Breach::new(
                "an irreversible action can become COMPLETED only with evidence that it took \
                 effect; settle its outcome",
            )),
            (_, Some(SettledAs::NotApplied)) => Ok(()),
            (_, None) if self.permit.is_none() => Ok(()),
            (_, None) if self.accepted.is_some() => Err(Breach::new(
                "its service has accepted the call and may still carry it out, so it cannot end and release its \
                 key; wait for the report, or `fence` it and settle the doubt",
            )),
            _ => Err(Breach::new(
                "a permit is unanswered and the action may have taken effect, so it cannot end \
                 and release its key; settle its outcome, or let `recover` put it in doubt",
            )),
        }
    }
}

fn unreported() -> Breach {
    Breach::new(
        "its service has accepted the call, so only its report settles it; use \
         `Store::report`",
    )
}

fn contradiction() -> Breach {
    Breach::new(
        "a receipt proves that the action took effect; confirm that it was applied. To repeat it on \
         purpose, plan it with an `occurrence`",
    )
}
