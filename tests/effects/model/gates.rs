//! The rules of gates.

use machine::clock::Millis;

use super::{
    reference::{Attempt, Gate, Model, Reply, Status},
    rules::Key,
    step::{Answer, At},
};

impl Model {
    /// Why the gate of an attempt is not open, if it has one and it is not.
    pub(super) fn closed(&self, at: At) -> Option<&'static str> {
        let gate = self.attempts[at].gate?;
        match gate.answer {
            Reply::Waiting => Some("Deferred"),
            Reply::Declined | Reply::Ended => Some("NeverRuns"),
            Reply::Approved => {
                gate.until.is_some_and(|until| until <= self.now).then_some("ApprovalExpired")
            }
        }
    }

    /// Returns whether the newest answer to a question about the action of an attempt that needs no
    /// answer itself was no.
    pub(super) fn declined(&self, at: At) -> Option<&'static str> {
        let Attempt { key, gate, approved, .. } = self.attempts[at];
        let of_key = self.attempts.iter().filter(|one| one.key == key);
        let gates = of_key.filter_map(|one| one.gate).filter(|gate| gate.answered_at.is_some());
        let newest = gates.max_by_key(|gate| (gate.answered_at, gate.answer == Reply::Declined));
        let is_declined = newest.is_some_and(|gate| gate.answer == Reply::Declined);
        (is_declined && gate.is_none() && !approved).then_some("Declined")
    }

    pub(super) fn decide(&mut self, at: At, answer: Reply) -> Answer {
        let now = self.now;
        let gate = self.attempts[at].gate.unwrap();
        match gate.answer {
            Reply::Approved | Reply::Declined => return Answer::refused("AlreadyDecided"),
            Reply::Ended => return Answer::refused("NotAGate"),
            Reply::Waiting => {}
        }
        if gate.until.is_some_and(|until| until <= now) {
            return Answer::refused("GateExpired");
        }
        if answer == Reply::Approved && self.key(self.attempts[at].key, Some(at)) == Key::Applied {
            return Answer::refused("GateDone");
        }
        let one = &mut self.attempts[at];
        one.gate = Some(Gate { answer, answered_at: Some(now), ..gate });
        if answer == Reply::Declined {
            one.status = Status::Cancelled;
        }
        Answer::Done
    }

    pub(super) fn end_gate(&mut self, at: At, may: impl FnOnce(Gate, Millis) -> bool) -> Answer {
        let now = self.now;
        let gate = self.attempts[at].gate.unwrap();
        match gate.answer {
            Reply::Approved | Reply::Declined => Answer::refused("AlreadyDecided"),
            Reply::Ended => Answer::refused("NotAGate"),
            Reply::Waiting if !may(gate, now) => Answer::refused("NotDue"),
            Reply::Waiting => {
                let one = &mut self.attempts[at];
                one.gate = Some(Gate { answer: Reply::Ended, ..gate });
                // An action that never runs ends with its gate.
                one.status = Status::Cancelled;
                Answer::Done
            }
        }
    }
}
