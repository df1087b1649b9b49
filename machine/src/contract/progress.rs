use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    AnyExecution, CallFact, Contract, Decision, Evidence, Liveness, contract::millis, gate,
};
use crate::{
    actor::{Actor, Human},
    clock::Millis,
    id::Id,
    journal::{Digest, Entry, Fact},
    stored::{Approves, Breach, Context, Durable, Hold, Index, Permitted, ToolEffect},
};

/// The progress of an execution, folded from its journal: what the rules of irreversible calls and
/// of gates, and the views, need to know.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[serde(default)]
pub struct Progress {
    /// The name of the current state.
    status: String,
    /// It took its key.
    #[serde(skip_serializing_if = "is_false")]
    held: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    permit: Option<Permit>,
    /// What is taken for true of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    /// A receipt says that the effect took place, or a person does.
    #[serde(skip_serializing_if = "is_false")]
    applied: bool,
    /// The beginning of a receipt that arrived late.
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<String>,
    /// The worker itself said, late, that nothing took place.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
    /// When the worker was found to have ended, by the clock of the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<Millis>,
    /// What was known of the worker when the execution was put in doubt.
    #[serde(skip_serializing_if = "Option::is_none")]
    parked: Option<Liveness>,
    /// The person who said that it did not take place before that could be known.
    #[serde(skip_serializing_if = "Option::is_none")]
    overridden_by: Option<String>,
    /// The answer of a gate.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "gate::read_decision")]
    decision: Option<Decision>,
    /// The person who approved it.
    #[serde(skip_serializing_if = "Option::is_none")]
    approved_by: Option<String>,
    /// It ends without being called.
    #[serde(skip_serializing_if = "is_false")]
    closed: bool,
    #[serde(skip_serializing_if = "is_false")]
    waited: bool,
}

/// The last permit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Permit {
    worker: String,
    epoch: u64,
    expires_at: Millis,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Applied,
    NotApplied,
    Unknown,
}

/// The longest part of a late text that the summary keeps, in characters.
const LONGEST: usize = 200;

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Context for Contract {
    type Summary = Progress;

    fn author(&self) -> Option<&str> {
        Some(self.made_by().0)
    }

    fn __author_name(&self) -> Option<&str> {
        self.made_by().1
    }

    fn __id(&self) -> Option<Id> {
        self.execution_id()
    }

    /// An irreversible action runs only under a permit, leaves RUNNING only with evidence, and ends
    /// only when its outcome is known. A gate completes only by a decision.
    fn fold(&self, progress: &mut Progress, entry: &Entry) -> Result<(), Breach> {
        let fact = match &entry.fact {
            Fact::Recorded { .. } => Some(CallFact::of(entry).ok_or_else(|| {
                Breach::new("its journal has a fact that this program does not know; update it")
            })?),
            _ => None,
        };
        progress.admit_ending(&entry.fact, fact.as_ref())?;
        if self.is_irreversible() {
            progress.admit_call(&entry.fact, fact.as_ref(), self.settling_time())?;
        }
        progress.admit_answer(self, entry, fact.as_ref())?;
        progress.take(entry, fact);
        if let (Fact::Created { .. }, Some(decider)) = (&entry.fact, self.decided_by()) {
            if (entry.actor.as_deref(), entry.by.as_deref()) != self.decided() {
                return Err(Breach::new("its journal names another decider than its contract"));
            }
            progress.approved_by = decider.is_human().then(|| decider.name().to_owned());
        }
        Ok(())
    }

    fn check(&self, progress: &Progress) -> Result<(), Breach> {
        let running = progress.status == "running";
        if self.is_irreversible() && progress.verdict == Some(Verdict::Unknown) && running {
            return Err(Breach::new(
                "the action is in doubt, so it cannot resume; confirm that it took place, or that \
                 it did not",
            ));
        }
        if progress.decision.is_some() && (running || progress.status == "waiting") {
            return Err(Breach::new(
                "a gate is decided and completed in one commit; use `approve` or `decline`",
            ));
        }
        if progress.closed && !progress.has_ended() {
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
            // A contract's key is derived from its action, so it identifies nothing else.
            action: self
                .idempotency_key()
                .filter(|_| self.is_irreversible())
                .map(|key| Digest::of(&[key.as_str().as_bytes()])),
            call: behind.map(|_| self.action().digest()),
            is_approved: progress.approved_by.is_some(),
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
                .map(|call| ToolEffect { name: call.name(), irreversible: self.is_irreversible() }),
            closed: progress.closed,
            contract: true,
        }
    }
}

impl Progress {
    /// The progress of an execution, with what is not stored yet.
    #[must_use]
    pub fn of(execution: &AnyExecution) -> Self {
        Self::read(execution)
    }

    /// The same for an execution in a state that is known.
    pub(crate) fn read(execution: &dyn Durable) -> Self {
        let journal = execution.journal();
        let folded = execution
            .__rules()
            .__fold(&journal.stored().summary.context, journal.uncommitted())
            .map(|folded| folded.part);
        // A history that breaks a rule is refused at the commit; the views show what was committed.
        let part = folded.unwrap_or_else(|_| journal.stored().summary.context.clone());
        Self::deserialize(&part).unwrap_or_default()
    }

    /// Whether the execution has waited.
    #[must_use]
    pub fn has_waited(&self) -> bool {
        self.waited
    }

    /// The person who approved it: at its gate, or as a retry.
    #[must_use]
    pub fn approved_by(&self) -> Option<&str> {
        self.approved_by.as_deref()
    }

    /// The answer of a gate.
    #[must_use]
    pub fn decision(&self) -> Option<&Decision> {
        self.decision.as_ref()
    }

    /// Nobody knows whether the effect took place, or a receipt that says so waits to be taken.
    #[must_use]
    pub fn is_in_doubt(&self) -> bool {
        self.status == "waiting" && self.verdict == Some(Verdict::Unknown)
    }

    /// It ended as not done, and a receipt says that it was.
    #[must_use]
    pub fn is_contradicted(&self) -> bool {
        self.applied && self.has_ended() && self.status != "completed"
    }

    /// The effect took place, even if the state says otherwise.
    #[must_use]
    pub fn is_applied(&self) -> bool {
        self.applied
    }

    /// The beginning of the receipt that arrived late.
    #[must_use]
    pub fn receipt(&self) -> Option<&str> {
        self.receipt.as_deref()
    }

    /// The person who said that it did not take place while that could not be known.
    #[must_use]
    pub fn overridden_by(&self) -> Option<&str> {
        self.overridden_by.as_deref()
    }

    /// Why the worker said, late, that nothing took place.
    #[must_use]
    pub fn refused(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    /// What is known of the worker.
    #[must_use]
    pub fn worker(&self) -> Liveness {
        match self.ended_at {
            Some(_) => Liveness::Ended,
            None => self.parked.unwrap_or(Liveness::Unknown),
        }
    }

    /// When the worker was found to have ended.
    pub(crate) fn ended_at(&self) -> Option<Millis> {
        self.ended_at
    }

    /// The worker and the epoch of the last permit.
    pub(crate) fn permit(&self) -> Option<(&str, u64)> {
        self.permit.as_ref().map(|permit| (permit.worker.as_str(), permit.epoch))
    }

    /// Whether the outcome of the permit of this epoch is still open, without a fence.
    pub(crate) fn is_running_under(&self, epoch: u64) -> bool {
        self.status == "running"
            && self.verdict.is_none()
            && self.permit.as_ref().is_some_and(|permit| permit.epoch == epoch)
    }

    fn has_ended(&self) -> bool {
        matches!(self.status.as_str(), "completed" | "failed" | "rejected" | "cancelled")
    }

    fn take(&mut self, entry: &Entry, call: Option<CallFact>) {
        match &entry.fact {
            Fact::Created { state, .. } => self.status = state.to_string(),
            Fact::Moved { to, .. } => {
                self.status = to.to_string();
                self.waited |= to == "waiting";
            }
            Fact::Fenced { .. } | Fact::Recorded { .. } => {}
        }
        let Some(call) = call else { return };
        match call {
            CallFact::Held { .. } => self.held = true,
            CallFact::Permitted { worker, epoch, expires_at, approved_by, .. } => {
                self.permit = Some(Permit { worker, epoch, expires_at });
                self.verdict = None;
                if approved_by.is_some() {
                    self.approved_by = approved_by;
                }
            }
            CallFact::Evidence { evidence, late: false, .. } => {
                self.applied |= matches!(evidence, Evidence::Applied(_));
                self.verdict = Some(match evidence {
                    Evidence::Applied(_) => Verdict::Applied,
                    Evidence::NotApplied(_) => Verdict::NotApplied,
                    Evidence::Unknown(_) => Verdict::Unknown,
                });
            }
            CallFact::Evidence { evidence, late: true, .. } => match evidence {
                Evidence::Applied(receipt) => {
                    self.applied = true;
                    self.receipt.get_or_insert_with(|| receipt.chars().take(LONGEST).collect());
                }
                Evidence::NotApplied(reason) => {
                    self.refused.get_or_insert_with(|| reason.chars().take(LONGEST).collect());
                }
                Evidence::Unknown(_) => {}
            },
            CallFact::Parked { worker: Liveness::Ended, at } | CallFact::WorkerEnded { at } => {
                self.ended_at.get_or_insert(at);
            }
            CallFact::Parked { worker, .. } => self.parked = Some(worker),
            CallFact::Confirmed { applied, overridden, .. } => {
                self.applied |= applied;
                self.verdict = Some(if applied { Verdict::Applied } else { Verdict::NotApplied });
                if overridden {
                    self.overridden_by = entry.by.as_deref().map(str::to_owned);
                }
            }
            CallFact::Decided { approved, at, expires_at, .. } => {
                let by = entry.by.as_deref().unwrap_or_default().to_owned();
                self.decision = Some(Decision { approved, by, at, expires_at });
            }
            CallFact::Closed { .. } => self.closed = true,
        }
    }

    /// An execution that was never called ends at once.
    fn admit_ending(&self, fact: &Fact, call: Option<&CallFact>) -> Result<(), Breach> {
        if matches!(call, Some(CallFact::Closed { .. })) && self.status != "pending" {
            return Err(Breach::new("only a PENDING execution can be closed"));
        }
        match fact {
            Fact::Moved { trigger, .. }
                if self.closed && !matches!(&**trigger, "start" | "cancel") =>
            {
                Err(Breach::new("it was closed, so it can only be cancelled"))
            }
            _ if self.closed && call.is_some() => {
                Err(Breach::new("it was closed, so nothing else can happen to it"))
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
            match (trigger.as_ref(), to.as_ref()) {
                ("start", _) if !self.held && !self.closed => {
                    return Err(Breach::new(
                        "the action is irreversible and was started without `begin`; start it \
                         through `begin`, which takes the key and issues a permit",
                    ));
                }
                ("suspend", _) if self.permit.is_some() && self.verdict.is_none() => {
                    return Err(Breach::new(
                        "the call may still be in flight; settle its outcome, or let `recover` \
                         fence its worker",
                    ));
                }
                (_, "completed" | "failed" | "rejected" | "cancelled") => self.may_end_as(to)?,
                _ => {}
            }
        }
        match call {
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
                Err(Breach::new("it has had its permit; a retry is a new execution"))
            }
            _ => Ok(()),
        }
    }

    /// The outcome of the call, or one that arrived late and is taken now.
    fn admit_evidence(&self, evidence: &Evidence) -> Result<(), Breach> {
        match (self.verdict, evidence) {
            (None, Evidence::NotApplied(_)) if self.applied => Err(contradiction()),
            (None, _) => Ok(()),
            (Some(Verdict::Unknown), Evidence::Applied(_)) if self.applied => Ok(()),
            (Some(Verdict::Unknown), Evidence::NotApplied(_)) if self.applied => {
                Err(contradiction())
            }
            (Some(Verdict::Unknown), Evidence::NotApplied(_)) if self.refused.is_some() => Ok(()),
            _ => {
                Err(Breach::new("the outcome of the call was recorded before; nothing else counts"))
            }
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
        if overridden || self.refused.is_some() {
            return Ok(());
        }
        match self.ended_at {
            None => Err(Breach::new(
                "its worker may still be alive; wait until it has ended, or override by name",
            )),
            Some(ended_at) if at < settled_at(ended_at, settling_time) => Err(Breach::new(
                "the call may still take effect; wait for the settling time of its tool, or \
                 override by name",
            )),
            Some(_) => Ok(()),
        }
    }

    fn may_end_as(&self, end: &str) -> Result<(), Breach> {
        match (end, self.verdict) {
            ("completed", Some(Verdict::Applied)) => Ok(()),
            ("completed", _) => Err(Breach::new(
                "an irreversible action can become COMPLETED only with evidence that it took \
                 place; settle its outcome",
            )),
            (_, Some(Verdict::NotApplied)) => Ok(()),
            (_, None) if self.permit.is_none() => Ok(()),
            _ => Err(Breach::new(
                "a permit is unanswered and the action may have taken place, so this cannot end \
                 and release its key; settle its outcome, or let `recover` put it in doubt",
            )),
        }
    }

    /// Checks the next fact of a gate, and that only a gate has an answer.
    fn admit_answer(
        &self,
        contract: &Contract,
        entry: &Entry,
        call: Option<&CallFact>,
    ) -> Result<(), Breach> {
        let Some(approval) = contract.approves() else {
            return match call {
                Some(CallFact::Decided { .. }) => Err(Breach::new("it is not a gate")),
                _ => Ok(()),
            };
        };
        if let Fact::Created { .. } = entry.fact {
            return Ok(());
        }
        if let Some(call) = call {
            let CallFact::Decided { execution, action, at, expires_at, .. } = call else {
                return match call {
                    CallFact::Closed { .. } => Ok(()),
                    _ => Err(Breach::new("a gate makes no call")),
                };
            };
            if self.decision.is_some() {
                return Err(Breach::new("the gate was answered before"));
            }
            let by_person = entry.actor.as_deref() == Some(Human::KIND) && entry.by.is_some();
            if self.status != "waiting" || !by_person {
                return Err(Breach::new("only a person can answer a gate, while it waits"));
            }
            if (*execution, *action) != (approval.execution(), approval.action()) {
                return Err(Breach::new("the answer is to another question"));
            }
            if expires_at.is_some_and(|limit| limit <= *at) {
                return Err(Breach::new("the gate expired before it was answered"));
            }
            return Ok(());
        }
        let Fact::Moved { trigger, .. } = &entry.fact else { return Ok(()) };
        let decided = self.decision.as_ref().map(|decision| decision.approved);
        if let ("suspend", Fact::Moved { payload, .. }) = (&**trigger, &entry.fact) {
            let asked = payload.get("prompt").and_then(Value::as_str);
            let question = contract.action().detail().get("message").and_then(Value::as_str);
            if self.waited || asked != question {
                return Err(Breach::new(
                    "a gate asks once, and what its contract says; make it with `Contract::ask`",
                ));
            }
        }
        match (&**trigger, decided) {
            ("resume", Some(_)) | ("succeed", Some(true)) | ("reject", Some(false)) => Ok(()),
            (_, Some(_)) => Err(Breach::new("the gate was answered, and ends as it was answered")),
            ("resume" | "succeed" | "reject", None) => Err(Breach::new(
                "a gate completes only by the answer of a person; use `approve` or `decline`",
            )),
            _ => Ok(()),
        }
    }

    /// Evidence that the effect took place holds the key for good, even if it was late.
    fn hold(&self) -> Hold {
        let given_up = matches!(self.status.as_str(), "failed" | "rejected" | "cancelled");
        match (self.held, self.applied) {
            (true, true) => Hold::Applied,
            (true, false) if given_up => Hold::Released,
            (true, false) => Hold::Held,
            (false, _) => Hold::Free,
        }
    }

    /// The permit, as long as its outcome is unknown.
    pub(crate) fn unanswered(&self) -> Option<Permitted> {
        match self.verdict {
            None | Some(Verdict::Unknown) => self.permit.as_ref().map(|permit| Permitted {
                worker: permit.worker.clone(),
                expires_at: permit.expires_at,
                epoch: permit.epoch,
            }),
            Some(Verdict::Applied | Verdict::NotApplied) => None,
        }
    }
}

/// From when on "it did not take place" counts.
pub(crate) fn settled_at(ended_at: Millis, settling_time: Duration) -> Millis {
    ended_at.saturating_add(Millis::try_from(millis(settling_time)).unwrap_or(Millis::MAX))
}

fn contradiction() -> Breach {
    Breach::new(
        "a receipt says that the action took place; confirm that it was applied. To do it again on \
         purpose, plan it with an `occurrence`",
    )
}
