//! The rules of gates.

use machine::clock::Millis;

use super::{
    reference::{Gate, Model, Reply},
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

    pub(super) fn decide(&mut self, at: At, answer: Reply) -> Answer {
        let now = self.now;
        let gate = self.attempts[at].gate.as_mut().unwrap();
        match gate.answer {
            Reply::Approved | Reply::Declined => return Answer::refused("AlreadyDecided"),
            Reply::Ended => return Answer::refused("NotAGate"),
            Reply::Waiting => {}
        }
        if gate.until.is_some_and(|until| until <= now) {
            return Answer::refused("GateExpired");
        }
        gate.answer = answer;
        Answer::Done
    }

    pub(super) fn end_gate(&mut self, at: At, may: impl FnOnce(Gate, Millis) -> bool) -> Answer {
        let now = self.now;
        let gate = self.attempts[at].gate.as_mut().unwrap();
        match gate.answer {
            Reply::Approved | Reply::Declined => Answer::refused("AlreadyDecided"),
            Reply::Ended => Answer::refused("NotAGate"),
            Reply::Waiting if !may(*gate, now) => Answer::refused("NotDue"),
            Reply::Waiting => {
                gate.answer = Reply::Ended;
                Answer::Done
            }
        }
    }
}
