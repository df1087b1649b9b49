//! The rules of evidence: what ends a doubt, and what frees a key.

use super::{
    reference::{Attempt, Call, Model, Request, SETTLING, Status},
    step::{Answer, At, Said},
};

impl Model {
    pub(super) fn recover(&mut self, by: Option<usize>) -> Answer {
        let (mut in_doubt, mut settled) = (Vec::new(), Vec::new());
        for at in 0..self.attempts.len() {
            let one = &self.attempts[at];
            match one.status {
                Status::Running if one.receipt || one.refusal && one.seen_over_at.is_some() => {
                    let receipt = one.receipt;
                    self.park(at, by);
                    self.attempts[at].status =
                        if receipt { Status::Completed } else { Status::Failed };
                    settled.push(at);
                }
                Status::Running => {
                    let overdue = one.expires_at.is_some_and(|expires_at| expires_at < self.now);
                    if overdue || !self.is_alive(at, by) || self.sees_cut_off(at, by) {
                        self.park(at, by);
                        if self.attempts[at].refusal_counts() {
                            self.attempts[at].status = Status::Failed;
                            settled.push(at);
                        } else {
                            in_doubt.push(at);
                        }
                    }
                }
                Status::Waiting if one.accepted.is_some_and(|limit| limit < self.now) => {
                    self.unreported(at);
                    in_doubt.push(at);
                }
                Status::InDoubt => {
                    let is_settled = self.settled_by_evidence(at, by);
                    if is_settled { settled.push(at) } else { in_doubt.push(at) }
                }
                _ => {}
            }
        }
        Answer::Found(in_doubt, settled)
    }

    /// Settles a doubt without a person.
    fn settled_by_evidence(&mut self, at: At, by: Option<usize>) -> bool {
        if !self.attempts[at].receipt && !self.attempts[at].refusal_counts() {
            self.observe(at, by);
        }
        let one = &mut self.attempts[at];
        match (one.receipt, one.refusal_counts()) {
            (true, _) => one.status = Status::Completed,
            (false, true) => one.status = Status::Failed,
            (false, false) => return false,
        }
        true
    }

    /// The bank has not reported. It may pay until its limit, and what it has sent by then is on
    /// its way.
    pub(super) fn unreported(&mut self, at: At) -> Answer {
        let now = self.now;
        self.done(at, |one| {
            one.status = Status::InDoubt;
            one.seen_over_at = one.accepted.max(Some(now));
        })
    }

    /// The first report settles; what is known changes nothing; anything else is late evidence.
    pub(super) fn reported(&mut self, at: At, said: Said) -> Answer {
        let one = &mut self.attempts[at];
        if said == Said::Refusal {
            one.request = Request::Refused;
        }
        if one.knows(said) {
            return Answer::Done;
        }
        let receipt = said == Said::Receipt;
        match one.status {
            Status::Running | Status::Waiting if receipt => {
                (one.status, one.receipt) = (Status::Completed, true);
            }
            Status::Waiting => (one.status, one.refused) = (Status::Failed, true),
            status => {
                one.late.push(said);
                one.receipt |= receipt;
                one.refusal |= !receipt;
                if status == Status::InDoubt {
                    self.settled_by_evidence(at, None);
                }
            }
        }
        Answer::Done
    }

    fn observe(&mut self, at: At, by: Option<usize>) {
        if !self.is_alive(at, by) {
            let now = self.now;
            self.attempts[at].seen_over_at.get_or_insert(now);
        }
    }

    pub(super) fn confirmed(&mut self, at: At) -> Answer {
        self.done(at, |one| (one.status, one.says_applied) = (Status::Completed, true))
    }

    /// Returns whether the observer can know that it did not take effect.
    pub(super) fn may_be_freed(&mut self, at: At) -> Answer {
        if self.attempts[at].receipt || self.attempts[at].refusal_counts() {
            return Answer::Done;
        }
        self.observe(at, None);
        match self.attempts[at].seen_over_at {
            None if self.sees_cut_off(at, None) => Answer::refused("CutOff"),
            // If its own process has looked, others know it, too.
            None if self.attempts[at].call == Call::CutOff => {
                Answer::Refused(vec!["WorkerAlive", "CutOff"])
            }
            None => Answer::refused("WorkerAlive"),
            Some(seen) if self.now < seen + SETTLING => Answer::refused("NotSettled"),
            Some(_) => Answer::Done,
        }
    }
}

impl Attempt {
    /// Returns whether this very evidence is recorded.
    pub(super) fn knows(&self, said: Said) -> bool {
        match said {
            Said::Receipt => self.receipt,
            Said::Refusal => self.refusal || self.refused,
            _ => false,
        }
    }

    /// A refusal of the bank speaks for the call only when that is over.
    fn refusal_counts(&self) -> bool {
        self.refusal && (self.accepted.is_some() || self.seen_over_at.is_some())
    }
}
