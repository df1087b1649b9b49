//! The rules of what people say: answers to questions and gates, and acknowledgements.

use serde_json::Value;

use super::{CallFact, Contract, Progress, execution::Status};
use crate::{
    actor::{Actor, Human},
    journal::{Entry, Fact},
    stored::Breach,
};

impl Progress {
    fn admit_response(&self, entry: &Entry) -> Result<(), Breach> {
        if self.status != Status::Waiting || !is_by_person(entry) {
            return Err(Breach::new(
                "only a person can answer a question, and only while it waits",
            ));
        }
        if self.awaits_report() {
            return Err(Breach::new("it waits for the report of its service, not for a person"));
        }
        if self.is_in_doubt() {
            return Err(Breach::new(
                "it is in doubt; confirm that the action took effect, or that it did not",
            ));
        }
        if self.answered_by.is_some() {
            return Err(Breach::new("the question is already answered; resume it"));
        }
        Ok(())
    }

    /// A person can acknowledge a contradiction, once.
    pub(super) fn admit_acknowledgement(&self, entry: &Entry) -> Result<(), Breach> {
        if !is_by_person(entry) {
            return Err(Breach::new("only a person can acknowledge a contradiction"));
        }
        if !self.is_contradicted() {
            return Err(Breach::new(
                "no receipt contradicts its outcome, so there is nothing to acknowledge",
            ));
        }
        match &self.acknowledged_by {
            Some(_) => Err(Breach::new("the contradiction is already acknowledged")),
            None => Ok(()),
        }
    }

    /// Checks the next fact of a gate, and that only a gate has an answer.
    pub(super) fn admit_answer(
        &self,
        contract: &Contract,
        entry: &Entry,
        call: Option<&CallFact>,
    ) -> Result<(), Breach> {
        let Some(approval) = contract.approves() else {
            return match call {
                Some(CallFact::Decided { .. }) => Err(Breach::new("it is not a gate")),
                Some(CallFact::Answered { .. }) => self.admit_response(entry),
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
                return Err(Breach::new("the gate is already answered"));
            }
            if self.status != Status::Waiting || !is_by_person(entry) {
                return Err(Breach::new(
                    "only a person can answer a gate, and only while it waits",
                ));
            }
            if (*execution, *action) != (approval.execution(), approval.action()) {
                return Err(Breach::new("the answer is for a different question"));
            }
            if expires_at.is_some_and(|limit| limit <= *at) {
                return Err(Breach::new("the gate expired before it was answered"));
            }
            return Ok(());
        }
        let Fact::Moved { trigger, payload, .. } = &entry.fact else { return Ok(()) };
        let decided = self.decision.as_ref().map(|decision| decision.approved);
        if trigger == "suspend" {
            let asked = payload.get("prompt").and_then(Value::as_str);
            let question = contract.action().detail().get("message").and_then(Value::as_str);
            if self.waited || asked != question {
                return Err(Breach::new(
                    "a gate asks the question of its contract, once; create it with `Contract::ask`",
                ));
            }
        }
        match (&**trigger, decided) {
            ("resume", Some(_)) | ("succeed", Some(true)) | ("reject", Some(false)) => Ok(()),
            (_, Some(_)) => {
                Err(Breach::new("the gate is answered and can end only with that answer"))
            }
            ("resume" | "succeed" | "reject", None) => Err(Breach::new(
                "only a person's answer completes a gate; use `approve` or `decline`",
            )),
            _ => Ok(()),
        }
    }
}

fn is_by_person(entry: &Entry) -> bool {
    entry.actor.as_deref() == Some(Human::KIND) && entry.by.is_some()
}
