use serde::{Deserialize, Serialize};

use super::{CallFact, Contract, Evidence};
use crate::{
    clock::Millis,
    journal::{Entry, Fact},
    stored::{Breach, Context, Durable, Hold, Index, Permitted},
};

/// The progress of an execution, folded from its journal: what the rules of irreversible calls and
/// the views need to know.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Progress {
    /// The name of the current state.
    #[serde(default)]
    status: String,
    /// It took its key.
    #[serde(default, skip_serializing_if = "is_false")]
    held: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    permit: Option<Permit>,
    /// The last evidence that was not late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    /// Some evidence, late or not, says that the effect took place.
    #[serde(default, skip_serializing_if = "is_false")]
    applied: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    waited: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    resumed: bool,
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

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Context for Contract {
    type Summary = Progress;

    fn author(&self) -> Option<&str> {
        Some(Self::AUTHOR)
    }

    /// An irreversible action runs only under a permit, leaves RUNNING only with evidence, and ends
    /// only when its outcome is known.
    fn fold(&self, progress: &mut Progress, entry: &Entry) -> Result<(), Breach> {
        let fact = match &entry.fact {
            Fact::Recorded { .. } => Some(CallFact::of(entry).ok_or_else(|| {
                Breach::new("its journal has a fact that this program does not know; update it")
            })?),
            _ => None,
        };
        if self.is_irreversible() {
            progress.admit(&entry.fact, fact.as_ref())?;
        }
        progress.take(&entry.fact, fact);
        Ok(())
    }

    fn check(&self, progress: &Progress) -> Result<(), Breach> {
        let in_doubt = progress.verdict == Some(Verdict::Unknown);
        if self.is_irreversible() && in_doubt && progress.status == "running" {
            return Err(Breach::new(
                "the action is in doubt, so it cannot resume; confirm that it took place, or that \
                 it did not",
            ));
        }
        Ok(())
    }

    fn index(&self, progress: &Progress) -> Index {
        Index {
            session: self.session_id().map(str::to_owned),
            key: self.idempotency_key().map(ToString::to_string),
            exclusive: self.is_irreversible(),
            hold: progress.hold(),
            // Only a key and a confirmation need it.
            action: (self.is_irreversible() || self.behind().is_some())
                .then(|| self.action().digest()),
            behind: self.behind(),
            confirms: self.confirms(),
            permit: progress.unanswered(),
            contract: true,
        }
    }
}

impl Progress {
    /// The progress of an execution, with what is not stored yet.
    pub(crate) fn of(execution: &dyn Durable) -> Self {
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
    pub(crate) fn has_waited(&self) -> bool {
        self.waited
    }

    /// Whether the execution was resumed after it had waited.
    pub(crate) fn was_resumed(&self) -> bool {
        self.resumed
    }

    fn take(&mut self, fact: &Fact, call: Option<CallFact>) {
        match fact {
            Fact::Created { state, .. } => self.status = state.to_string(),
            Fact::Moved { to, trigger, .. } => {
                self.status = to.to_string();
                self.waited |= to == "waiting";
                self.resumed |= trigger == "resume";
            }
            Fact::Fenced { .. } | Fact::Recorded { .. } => {}
        }
        match call {
            Some(CallFact::Held { .. }) => self.held = true,
            Some(CallFact::Permitted { worker, epoch, expires_at, .. }) => {
                self.permit = Some(Permit { worker, epoch, expires_at });
            }
            Some(CallFact::Evidence { evidence, late, .. }) => {
                self.applied |= matches!(evidence, Evidence::Applied(_));
                if !late {
                    self.verdict = Some(match evidence {
                        Evidence::Applied(_) => Verdict::Applied,
                        Evidence::NotApplied(_) => Verdict::NotApplied,
                        Evidence::Unknown(_) => Verdict::Unknown,
                    });
                }
            }
            None => {}
        }
    }

    /// Checks the next fact of an irreversible execution.
    fn admit(&self, fact: &Fact, call: Option<&CallFact>) -> Result<(), Breach> {
        if let Fact::Moved { to, trigger, .. } = fact {
            match (trigger.as_ref(), to.as_ref()) {
                ("start", _) if !self.held => {
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
        if let Some(CallFact::Evidence { epoch, late: false, .. }) = call
            && self.permit.as_ref().is_none_or(|permit| permit.epoch != *epoch)
        {
            return Err(Breach::new("the evidence does not match the permit of this execution"));
        }
        if let Some(CallFact::Evidence { evidence: Evidence::NotApplied(_), late: false, .. }) =
            call
            && self.applied
        {
            return Err(Breach::new(
                "late evidence says that the action took place; confirm that it was applied",
            ));
        }
        Ok(())
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

    /// Evidence that the effect took place holds the key for good, even if it was late.
    fn hold(&self) -> Hold {
        let given_up = matches!(self.status.as_str(), "failed" | "rejected" | "cancelled");
        match (self.held, self.applied) {
            (_, true) => Hold::Applied,
            (true, false) if given_up => Hold::Released,
            (true, false) => Hold::Held,
            (false, false) => Hold::Free,
        }
    }

    /// The permit, as long as its outcome is unknown.
    pub(super) fn unanswered(&self) -> Option<Permitted> {
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
