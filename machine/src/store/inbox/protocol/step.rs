use super::{
    AfterMove, Attempted, Cause, Claim, Delivery, Effects, Event, EventOutcome, EventRefusal, Fail,
    Fault, InboxState, LastFailure, Lease, MessageState, Moved, MovedBy, Schedule, Switch, Tries,
    Wait, Wake, WorkChange,
    attempts::{begun, given_back, set_aside, tried},
    news::{child_ended, drive, left, requeue, revision, send},
};
use crate::clock::Millis;

/// The number of consecutive times that a handler may send messages to its own machine and wait,
/// before it is set aside.
pub(crate) const MAX_SELF_SENDS: u32 = 100;

/// Decides what an event changes. Everything that has to be decided about inboxes and leases is
/// decided here.
pub(crate) fn step(state: &InboxState, event: &Event) -> Result<Effects, EventRefusal> {
    decide(state, event).map(|effects| effects.counted(state))
}

fn decide(state: &InboxState, event: &Event) -> Result<Effects, EventRefusal> {
    match event {
        Event::Drive { now } => Ok(drive(state, *now)),
        Event::Send { message, now } => send(state, message, *now),
        Event::Notify { moved, now } => Ok(revision(state, *moved, *now)),
        Event::ChildEnded { now } => Ok(child_ended(state, *now)),
        Event::Left => Ok(left(state)),
        Event::End => Ok(Effects { work: WorkChange::Remove, ends: true, ..Effects::default() }),
        Event::Claim(it) => it.apply(state),
        Event::Renew { token, until } => {
            let mut work = held(state, *token)?;
            if let Some(lease) = &mut work.lease {
                lease.until = lease.until.max(*until);
            }
            Ok(Effects::of(work))
        }
        Event::Moved(it) => it.apply(state),
        Event::Acknowledge { token, messages } => {
            held(state, *token)?;
            let messages = messages.iter().map(|it| Ok((it.clone(), handled(state, it)?)));
            Ok(Effects { messages: messages.collect::<Result<_, _>>()?, ..Effects::default() })
        }
        Event::Switch(it) => it.apply(state),
        Event::Wait(it) => it.apply(state),
        Event::Fail(it) => it.apply(state),
        Event::HandBack { token, on, now } => {
            let mut work = held(state, *token)?;
            let messages = given_back(state, &mut work, on);
            work.free(Some(Wake::ready(*now)));
            Ok(Effects { messages, ..Effects::of(work) })
        }
        Event::Requeue { now, messages } => requeue(state, *now, messages),
    }
}

impl Schedule {
    pub(super) fn free(&mut self, wake: Option<Wake>) {
        self.lease = None;
        self.wake = wake;
        self.others_at = None;
    }

    /// Makes it due for a worker now, or makes its worker recheck it.
    pub(super) fn wake(&mut self, now: Millis) {
        self.revision = self.revision.wrapping_add(1);
        // No worker claims it before that.
        self.stuck_at = None;
        if self.lease.is_none() {
            let ready = Wake::ready(now);
            self.wake = Some(self.wake.map_or(ready, |wake| wake.or(ready)));
        }
    }

    /// The machine is in another state than before, or handled what it had to: nothing of what was
    /// tried before counts.
    pub(super) fn progress(&mut self) {
        self.handler = Tries::default();
        self.self_sends = 0;
        self.deadline = Tries::default();
        self.failed = None;
    }
}

/// The work, if this token has the lease.
fn held(state: &InboxState, token: u64) -> Result<Schedule, EventRefusal> {
    let work = state.work.clone().ok_or(EventRefusal::NoWork)?;
    if work.lease.is_some() && work.token == token { Ok(work) } else { Err(EventRefusal::Lost) }
}

pub(super) fn queued(state: &InboxState, correlation: &str) -> Result<MessageState, EventRefusal> {
    let message = state.messages.get(correlation);
    let message = message.filter(|message| message.status == Delivery::Queued);
    message.cloned().ok_or(EventRefusal::NotQueued)
}

/// A queued message that is handled now.
fn handled(state: &InboxState, correlation: &str) -> Result<MessageState, EventRefusal> {
    let message = queued(state, correlation)?;
    Ok(MessageState { status: Delivery::Handled, fault: None, ..message })
}

impl Claim {
    fn apply(&self, state: &InboxState) -> Result<Effects, EventRefusal> {
        let Self { worker, token, now, until, holder_ended, on, max_attempts } = self;
        let mut work = state.work.clone().ok_or(EventRefusal::NoWork)?;
        // Compare-and-set: a faster worker has raised the token.
        if work.token != *token {
            return Err(EventRefusal::Taken);
        }
        match &work.lease {
            Some(lease) if lease.until > *now && !holder_ended => return Err(EventRefusal::Taken),
            None if work.rests(*now) && work.others_at.is_none() => {
                return Err(EventRefusal::NotReady);
            }
            Some(_) | None => {}
        }
        let may = match on {
            Attempted::State => work.may_handle(*now),
            Attempted::Deadline => work.may_fire(*now),
            Attempted::Recheck | Attempted::Message(_) => true,
        };
        if !may {
            return Err(EventRefusal::NotReady);
        }
        work.token += 1;
        work.taken_over |= work.lease.is_some();
        let Some(messages) = tried(state, &mut work, on, *max_attempts)? else {
            // Whatever else there is to do for it can be done now.
            work.free(Some(Wake::ready(*now)));
            return Ok(set_aside(work, state, on, (*max_attempts, *now)));
        };
        work.lease = Some(Lease { worker: worker.clone(), until: *until });
        (work.wake, work.others_at) = (None, None);
        let outcome = EventOutcome::Claimed { token: work.token, revision: work.revision };
        Ok(Effects { messages, outcome, ..Effects::of(work) })
    }
}

/// Messages that can never be taken.
fn refuse(
    state: &InboxState,
    refused: &[(String, String)],
) -> impl Iterator<Item = (String, MessageState)> {
    refused.iter().filter_map(|(correlation, error)| {
        let message = queued(state, correlation).ok()?;
        let fault = Some(Fault::new(Cause::NotValid, error.clone()));
        let status = Delivery::SetAside;
        Some((correlation.clone(), MessageState { status, fault, ..message }))
    })
}

impl Moved {
    fn apply(&self, state: &InboxState) -> Result<Effects, EventRefusal> {
        let Self { token, revision, by, handled, refused, next, max_attempts } = self;
        let mut work = held(state, *token)?;
        let mut messages: Vec<_> = refuse(state, refused).collect();
        if let Some(correlation) = handled {
            messages.push((correlation.clone(), self::handled(state, correlation)?));
        }
        let attempts = work.handler.attempts;
        work.progress();
        if *by != MovedBy::Input {
            (work.seen_end, work.taken_over) = (None, false);
        }
        if *by == MovedBy::Takeover {
            // What comes next counts it again.
            work.handler.attempts = attempts.saturating_sub(1);
        }
        let limits = (*revision, *max_attempts);
        let outcome = match next {
            AfterMove::Go(on) => begun(state, &mut work, on, limits, &mut messages)?,
            AfterMove::Yield { now } => {
                work.free(Some(Wake::ready(*now)));
                EventOutcome::Done
            }
        };
        Ok(Effects { messages, outcome, ..Effects::of(work) })
    }
}

/// Messages that were not taken: they can never be, or they wait for another state.
fn looked_at(
    state: &InboxState,
    refused: &[(String, String)],
    kept: &[(String, String)],
) -> Vec<(String, MessageState)> {
    let kept = kept.iter().filter_map(|(correlation, error)| {
        let message = queued(state, correlation).ok()?;
        // This attempt ended normally, so it does not count towards the limit.
        let (attempts, fault) = (0, Some(Fault::new(Cause::NotTaken, error.clone())));
        Some((correlation.clone(), MessageState { attempts, fault, ..message }))
    });
    refuse(state, refused).chain(kept).collect()
}

impl Switch {
    fn apply(&self, state: &InboxState) -> Result<Effects, EventRefusal> {
        let Self { token, revision, was, on, refused, kept, max_attempts } = self;
        let mut work = held(state, *token)?;
        let mut messages = given_back(state, &mut work, was);
        messages.extend(looked_at(state, refused, kept));
        let limits = (*revision, *max_attempts);
        let outcome = begun(state, &mut work, on, limits, &mut messages)?;
        Ok(Effects { messages, outcome, ..Effects::of(work) })
    }
}

impl Wait {
    fn apply(&self, state: &InboxState) -> Result<Effects, EventRefusal> {
        let mut work = held(state, self.token)?;
        let messages = looked_at(state, &self.refused, &self.kept);
        let mut outcome = EventOutcome::Done;
        if self.on == Attempted::State {
            work.handler = Tries::default();
            work.seen_end = None;
            work.self_sends = if self.sends_itself { work.self_sends.saturating_add(1) } else { 0 };
            // The failure of a deadline stays for as long as it says why nothing happens.
            if work.deadline == Tries::default() {
                work.failed = None;
            }
            // Each message calls it again, and so it would never rest.
            if work.self_sends >= MAX_SELF_SENDS {
                let error = format!(
                    "the handler sent messages to its own machine {MAX_SELF_SENDS} times in a row without \
                     a transition; make a transition, or wait without a message"
                );
                let fault = Fault::new(Cause::SelfSends, error);
                work.failed = Some(LastFailure { fault, at: self.now, attempts: MAX_SELF_SENDS });
                work.self_sends = 0;
                work.handler = Tries { set_aside: true, ..Tries::default() };
                outcome = EventOutcome::SetAside;
            }
        }
        let wakes = [self.wake, work.wakes_at(self.due_at, self.now)]
            .into_iter()
            .flatten()
            .reduce(Wake::or);
        // News that came in the meantime must not wait for the next ring.
        work.free(if work.revision == self.revision { wakes } else { Some(Wake::ready(self.now)) });
        work.others_at = self.others_at;
        work.stuck_at =
            (self.stuck && work.wake.is_none() && self.others_at.is_none()).then_some(self.now);
        Ok(Effects { messages, outcome, ..Effects::of(work) })
    }
}

impl Fail {
    fn apply(&self, state: &InboxState) -> Result<Effects, EventRefusal> {
        let mut work = held(state, self.token)?;
        let mut messages = Vec::new();
        let look = match &self.on {
            Attempted::Recheck | Attempted::State | Attempted::Deadline => {
                let tries = if self.on == Attempted::Deadline {
                    &mut work.deadline
                } else {
                    &mut work.handler
                };
                // One that only looked has not counted it.
                let attempts = tries.attempts.max(1);
                work.failed =
                    Some(LastFailure { fault: self.fault.clone(), at: self.now, attempts });
                if self.hopeless || tries.attempts >= self.max_attempts {
                    *tries = Tries { set_aside: true, ..Tries::default() };
                } else {
                    tries.retry_at = Some(self.retry_at);
                }
                // Neither a deadline that failed delays other work, nor a handler that came before
                // a message. One that only looked has nothing behind it.
                let is_ahead = self.on == Attempted::Deadline
                    || self.on == Attempted::State && work.ended_at().is_some();
                Some(Wake::ready(self.now)).filter(|_| is_ahead)
            }
            Attempted::Message(correlation) => {
                let mut message = queued(state, correlation)?;
                message.fault = Some(self.fault.clone());
                if self.hopeless || message.attempts >= self.max_attempts {
                    message.status = Delivery::SetAside;
                }
                messages.push((correlation.clone(), message));
                // The others continue, those with fewer attempts first.
                Some(Wake::ready(self.now))
            }
        };
        let look = if work.revision == self.revision { look } else { Some(Wake::ready(self.now)) };
        work.free(
            [look, work.wakes_at(self.due_at, self.now)].into_iter().flatten().reduce(Wake::or),
        );
        work.others_at = self.others_at;
        Ok(Effects { messages, ..Effects::of(work) })
    }
}
