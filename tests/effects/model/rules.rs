//! The rules: what a step does, and what it answers.

use machine::clock::Millis;

use super::{
    reference::{Attempt, Call, Gate, LIMIT, Model, Reply, Request, Status},
    step::{Answer, Asks, At, Said, Step},
};

/// The state of a key: a fold of all attempts at it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Key {
    Free,
    Held,
    Applied,
}

impl Model {
    pub(super) fn after(mut self, step: &Step) -> Self {
        self.answer = match *step {
            Step::Fence(at)
                if !matches!(self.attempts[at].status, Status::Running | Status::Waiting) =>
            {
                Answer::refused("NotRunning")
            }
            Step::Fence(at) if self.attempts[at].status == Status::Waiting => self.unreported(at),
            Step::Report(at, said) => self.reported(at, said),
            Step::ConfirmApplied(at)
            | Step::ConfirmNotApplied(at)
            | Step::Override(at)
            | Step::AskBank(at)
                if self.attempts[at].status != Status::InDoubt =>
            {
                Answer::refused("NotInDoubt")
            }
            Step::Plan { key, gate, impatient, confined } => {
                self.plan(key, gate, impatient, confined)
            }
            Step::Retry(at) => {
                let Attempt { key, impatient, confined, .. } = self.attempts[at];
                let answer = self.plan(key, Asks::Never, impatient, confined);
                if let (Answer::Done, Some(retry)) = (&answer, self.attempts.last_mut()) {
                    retry.approved = true;
                }
                answer
            }
            Step::Begin(at, by) => self.begin(at, by),
            Step::Call(at) => self.call(at),
            Step::Send(at) => self.done(at, |one| one.request = Request::OnItsWay),
            Step::Arrive(at) => self.done(at, |one| one.request = Request::Arrived),
            Step::Answer(at, said) => self.answered(at, said),
            Step::Drop(at) if self.attempts[at].call == Call::In => {
                self.done(at, |one| one.call = Call::CutOff)
            }
            Step::Drop(at) => self.ended(at),
            Step::Release(at) => self.released(at),
            Step::Crash(worker) => {
                let life = self.lives[worker];
                for at in 0..self.attempts.len() {
                    let one = &self.attempts[at];
                    if one.worker != Some((worker, life)) || one.call == Call::Over {
                        continue;
                    }
                    if self.sees_processes || one.call == Call::Permitted {
                        self.ended(at);
                    } else {
                        // It has lost everything, and is still the same process.
                        self.attempts[at].call = Call::CutOff;
                        self.released(at);
                    }
                }
                self.lives[worker] += 1;
                Answer::Done
            }
            Step::Recover(by) => self.recover(by),
            Step::Fence(at) => {
                self.park(at, None);
                Answer::Done
            }
            Step::ConfirmApplied(at) => self.confirmed(at),
            Step::ConfirmNotApplied(at) => {
                let answer = self.may_be_freed(at);
                if answer == Answer::Done {
                    self.attempts[at].status = Status::Failed;
                }
                answer
            }
            Step::Override(at) if self.attempts[at].receipt => Answer::refused("Refused"),
            Step::Override(at) => self.done(at, |one| {
                (one.status, one.overridden) = (Status::Failed, true);
            }),
            Step::AskBank(at) => {
                let freed = self.may_be_freed(at);
                match (self.attempts[at].request, freed) {
                    (Request::Arrived, _) => self.confirmed(at),
                    (_, Answer::Done) => self.done(at, |one| one.status = Status::Failed),
                    (_, refused) => refused,
                }
            }
            Step::Approve(at) => self.decide(at, Reply::Approved),
            Step::Decline(at) => self.decide(at, Reply::Declined),
            Step::Withdraw(at) => self.end_gate(at, |_, _| true),
            Step::Expire(at) => {
                self.end_gate(at, |gate, now| gate.until.is_some_and(|until| until <= now))
            }
            Step::Cancel(at) => self.done(at, |one| {
                one.status = Status::Cancelled;
                // Nothing is left to approve.
                if let Some(gate @ Gate { answer: Reply::Waiting, .. }) = &mut one.gate {
                    gate.answer = Reply::Ended;
                }
            }),
            Step::Wait(ms) => {
                self.now += Millis::from(ms);
                Answer::Done
            }
        };
        self
    }

    /// Any applied: then applied. Any unanswered or unknown: then held. Otherwise free.
    pub(super) fn key(&self, key: usize, but: Option<At>) -> Key {
        let others = self.attempts.iter().enumerate().filter(|(at, _)| Some(*at) != but);
        let others = others.map(|(_, one)| one).filter(|one| one.key == key);
        others.fold(Key::Free, |state, one| match (state, one.status) {
            _ if one.receipt || one.says_applied => Key::Applied,
            (Key::Free, Status::Running | Status::Waiting | Status::InDoubt) => Key::Held,
            _ => state,
        })
    }

    /// Returns whether a process sees a worker that can still be in the call.
    pub(super) fn is_alive(&self, at: At, by: Option<usize>) -> bool {
        let one = &self.attempts[at];
        let Some((worker, life)) = one.worker else { return false };
        let its_own = by == Some(worker) && self.lives[worker] == life;
        if self.sees_processes && !its_own {
            self.lives[worker] == life
        } else {
            match one.call {
                Call::Permitted | Call::In => true,
                Call::CutOff => !self.forgets_cut_off,
                Call::NotBegun | Call::Over => false,
            }
        }
    }

    /// Returns whether a process knows that one of its own calls was cut off.
    pub(super) fn sees_cut_off(&self, at: At, by: Option<usize>) -> bool {
        let one = &self.attempts[at];
        let its_own = match one.worker {
            Some((worker, life)) => by == Some(worker) && self.lives[worker] == life,
            None => false,
        };
        one.call == Call::CutOff && !one.confined && (its_own || !self.sees_processes)
    }

    pub(super) fn done(&mut self, at: At, change: impl FnOnce(&mut Attempt)) -> Answer {
        change(&mut self.attempts[at]);
        Answer::Done
    }

    fn plan(&mut self, key: usize, gate: Asks, impatient: bool, confined: bool) -> Answer {
        if self.key(key, None) == Key::Applied {
            return Answer::refused("AlreadyDone");
        }
        let gate = match gate {
            Asks::Never => None,
            Asks::APerson => Some(None),
            Asks::Within(ms) => Some(Some(self.now + Millis::from(ms))),
        };
        let gate = gate.map(|until| Gate { until, answer: Reply::Waiting, answered_at: None });
        self.attempts.push(Attempt {
            key,
            impatient,
            confined,
            gate,
            status: Status::Pending,
            call: Call::NotBegun,
            guarded: false,
            said: false,
            worker: None,
            expires_at: None,
            fenced: false,
            request: Request::NotSent,
            over_at: None,
            accepted: None,
            receipt: false,
            refusal: false,
            refused: false,
            seen_over_at: None,
            late: Vec::new(),
            says_applied: false,
            overridden: false,
            approved: false,
        });
        Answer::Done
    }

    fn begin(&mut self, at: At, by: usize) -> Answer {
        let (key, gated) = (self.attempts[at].key, self.attempts[at].gate.is_some());
        let taken = match self.key(key, Some(at)) {
            Key::Free => None,
            Key::Held => Some("KeyHeld"),
            Key::Applied => Some("AlreadyDone"),
        };
        let reasons: Vec<_> =
            self.closed(at).into_iter().chain(self.declined(at)).chain(taken).collect();
        if !reasons.is_empty() {
            return Answer::Refused(reasons);
        }
        let (life, now) = (self.lives[by], self.now);
        self.done(at, |one| {
            one.status = Status::Running;
            one.call = Call::Permitted;
            one.worker = Some((by, life));
            one.expires_at = one.impatient.then_some(now);
            one.approved |= gated;
        })
    }

    /// The permit is checked right before the service is called.
    fn call(&mut self, at: At) -> Answer {
        let one = &self.attempts[at];
        if one.fenced || self.key(one.key, Some(at)) == Key::Applied {
            return self.answered(at, Said::Refusal);
        }
        (self.attempts[at].call, self.attempts[at].guarded) = (Call::In, true);
        if self.attempts[at].impatient {
            // No caller waits for the answer, which will be late.
            self.attempts[at].status = Status::InDoubt;
        }
        Answer::Done
    }

    fn answered(&mut self, at: At, said: Said) -> Answer {
        let (running, now) = (self.attempts[at].status == Status::Running, self.now);
        // Known evidence is not written twice.
        let known = self.attempts[at].knows(said);
        // The bank had reported a receipt while the call was running, and no worker was fenced.
        let one = &self.attempts[at];
        let reported = one.status == Status::Completed && !one.fenced && !one.impatient;
        if self.attempts[at].call == Call::CutOff {
            self.answered_through_guard(at, said);
            return Answer::Done;
        }
        let one = &mut self.attempts[at];
        if said == Said::StillRunning {
            one.confined = false;
        }
        let is_cut_off = matches!(said, Said::StillRunning | Said::Panic) && !one.confined;
        if is_cut_off {
            (one.call, one.guarded) = (Call::CutOff, false);
        } else {
            one.said = true;
            self.ended(at);
        }
        self.done(at, |one| {
            one.receipt |= said == Said::Receipt;
            if running && said == Said::Accepted {
                one.status = if one.refusal { Status::Failed } else { Status::Waiting };
                one.refused |= one.refusal;
                let limit = Millis::try_from(LIMIT.as_millis()).unwrap();
                one.accepted = (!one.refusal).then_some(now + limit);
            } else if running {
                one.refused |= said == Said::Refusal;
                one.status = match said {
                    Said::Receipt => Status::Completed,
                    Said::Refusal => Status::Failed,
                    _ => Status::InDoubt,
                };
            } else {
                // These look like any other unknown.
                let is_unknown = !matches!(said, Said::Receipt | Said::Refusal);
                if !(known || reported && is_unknown) {
                    one.late.push(if is_unknown { Said::Unknown } else { said });
                }
                one.refusal |= said == Said::Refusal && !known;
            }
            if !is_cut_off && (!running || one.status == Status::InDoubt) {
                one.seen_over_at.get_or_insert(now);
            }
        })
    }

    /// Evidence counts; ignorance is not written down.
    fn answered_through_guard(&mut self, at: At, said: Said) {
        let now = self.now;
        let one = &mut self.attempts[at];
        one.said = true;
        // A part that refuses does not speak for the future that was dropped.
        let counts = said == Said::Receipt;
        let known = one.knows(said);
        one.receipt |= counts;
        if counts {
            if !known {
                one.late.push(said);
            }
            if one.confined {
                one.seen_over_at.get_or_insert(now);
            }
        }
        self.released(at);
    }

    /// The guard is gone, and with it a call that is confined.
    fn released(&mut self, at: At) -> Answer {
        self.attempts[at].guarded = false;
        if self.attempts[at].confined { self.ended(at) } else { Answer::Done }
    }

    /// The call is over, and the outcome was not reported.
    fn ended(&mut self, at: At) -> Answer {
        let now = self.now;
        self.done(at, |one| {
            (one.call, one.guarded) = (Call::Over, false);
            one.over_at.get_or_insert(now);
        })
    }

    /// Shuts the worker out.
    pub(super) fn park(&mut self, at: At, by: Option<usize>) {
        let (alive, now) = (self.is_alive(at, by), self.now);
        let one = &mut self.attempts[at];
        (one.status, one.fenced) = (Status::InDoubt, true);
        if !alive {
            one.seen_over_at.get_or_insert(now);
        }
    }
}
