use std::sync::Arc;

use super::{
    Cause, Change, Claim, Effects, Event, Fail, Failed, Fault, Lease, MessageState, MessageStatus,
    Moved, Next, On, Outcome, Park, Refusal, State, Tries, Turn, Work, ended,
};
use crate::{clock::Millis, store::inbox::message::Outgoing};

/// The number of times in a row that a handler sends messages to its own machine and waits, before it is set aside.
pub(crate) const MOST_SELF_SENDS: u32 = 100;

/// Decides what an event changes. Everything that has to be decided about inboxes and leases is
/// decided here.
pub(crate) fn step(state: &State, event: &Event) -> Result<Effects, Refusal> {
    match event {
        Event::Drive { now } => Ok(drive(state, *now)),
        Event::Send { message, now } => send(state, message, *now),
        Event::News { moved, now } => Ok(news(state, *moved, *now)),
        Event::End => Ok(Effects { work: Change::Remove, ends: true, ..Effects::default() }),
        Event::Claim(it) => it.apply(state),
        Event::Renew { token, until } => {
            let mut work = held(state, *token)?;
            if let Some(lease) = &mut work.lease {
                lease.until = lease.until.max(*until);
            }
            Ok(Effects::of(work))
        }
        Event::Moved(it) => it.apply(state),
        Event::Turn(it) => it.apply(state),
        Event::Park(it) => it.apply(state),
        Event::Fail(it) => it.apply(state),
        Event::HandBack { token, on, now } => {
            let mut work = held(state, *token)?;
            let messages = given_back(state, &mut work, on);
            work.free(Some(*now));
            Ok(Effects { messages, ..Effects::of(work) })
        }
        Event::Requeue { now, messages } => requeue(state, *now, messages),
    }
}

impl Work {
    fn free(&mut self, wake_at: Option<Millis>) {
        self.lease = None;
        self.wake_at = wake_at;
    }

    /// Makes a worker look at it now, or look again.
    fn wake(&mut self, now: Millis) {
        self.news = self.news.wrapping_add(1);
        if self.lease.is_none() {
            self.wake_at = Some(self.wake_at.map_or(now, |at| at.min(now)));
        }
    }

    /// The machine is in another state than before, or handled what it had to: nothing of what was
    /// tried before counts.
    fn progress(&mut self) {
        self.handler = Tries::default();
        self.self_sends = 0;
        self.deadline = Tries::default();
        self.failed = None;
    }
}

/// An attempt that was begun, and is no failure.
fn given_back(state: &State, work: &mut Work, on: &On) -> Vec<(String, MessageState)> {
    match on {
        On::Look => {}
        On::State => work.handler.attempts = work.handler.attempts.saturating_sub(1),
        On::Deadline => work.deadline.attempts = work.deadline.attempts.saturating_sub(1),
        On::Message(correlation) => {
            if let Ok(mut message) = queued(state, correlation) {
                message.attempts = message.attempts.saturating_sub(1);
                return vec![(correlation.clone(), message)];
            }
        }
    }
    Vec::new()
}

/// The work, if this token has the lease.
fn held(state: &State, token: u64) -> Result<Work, Refusal> {
    let work = state.work.clone().ok_or(Refusal::NoWork)?;
    if work.lease.is_some() && work.token == token { Ok(work) } else { Err(Refusal::Lost) }
}

fn queued(state: &State, correlation: &str) -> Result<MessageState, Refusal> {
    let message = state.messages.get(correlation);
    let message = message.filter(|message| message.status == MessageStatus::Queued);
    message.cloned().ok_or(Refusal::NotQueued)
}

fn drive(state: &State, now: Millis) -> Effects {
    if state.ended || state.work.is_some() {
        return Effects::default();
    }
    Effects::of(Work { wake_at: Some(now), ..Work::default() })
}

fn send(state: &State, message: &Arc<Outgoing>, now: Millis) -> Result<Effects, Refusal> {
    let replaces = match state.messages.get(&message.correlation) {
        None => false,
        Some(known) => {
            let sent = known.sent.as_ref();
            let is_same = sent.is_some_and(|sent| sent.is_same(message));
            let is_corrected = !is_same || sent.is_some_and(|sent| sent.seen != message.seen);
            match known.status {
                // A message that was set aside does not keep a better one away. It is never taken itself: so of
                // each correlation id one message is taken.
                MessageStatus::SetAside | MessageStatus::Replaced if is_corrected => true,
                // The first one is still there, with its own condition.
                MessageStatus::Queued if is_corrected => return Err(Refusal::OtherMessage),
                _ if is_same => return Ok(Effects::outcome(Outcome::Duplicate)),
                _ => return Err(Refusal::OtherMessage),
            }
        }
    };
    let sent = Some(Arc::clone(message));
    if state.ended {
        let (status, fault) = (MessageStatus::SetAside, Some(ended(None)));
        let known = MessageState { status, fault, attempts: 0, sent };
        let messages = vec![(message.correlation.clone(), known)];
        return Ok(Effects { messages, replaces, outcome: Outcome::Ended, ..Effects::default() });
    }
    let work = state.work.clone().map_or(Change::Keep, |mut work| {
        work.wake(now);
        Change::Set(work)
    });
    let known = MessageState { sent, ..MessageState::default() };
    let messages = vec![(message.correlation.clone(), known)];
    Ok(Effects { work, messages, replaces, ..Effects::default() })
}

fn news(state: &State, moved: bool, now: Millis) -> Effects {
    let Some(mut work) = state.work.clone() else { return Effects::default() };
    work.wake(now);
    if moved {
        work.progress();
    }
    Effects::of(work)
}

impl Claim {
    fn apply(&self, state: &State) -> Result<Effects, Refusal> {
        let Self { worker, token, now, until, holder_ended, on, most } = self;
        let mut work = state.work.clone().ok_or(Refusal::NoWork)?;
        // Compare-and-set: a faster worker has raised the token.
        if work.token != *token {
            return Err(Refusal::Taken);
        }
        match &work.lease {
            Some(lease) if lease.until > *now && !holder_ended => return Err(Refusal::Taken),
            None if work.wake_at.is_none_or(|at| at > *now) => return Err(Refusal::NotReady),
            Some(_) | None => {}
        }
        let may = match on {
            On::State => work.handler.may(*now),
            On::Deadline => work.deadline.may(*now),
            On::Look | On::Message(_) => true,
        };
        if !may {
            return Err(Refusal::NotReady);
        }
        work.token += 1;
        let Some(messages) = tried(state, &mut work, on, *most)? else {
            // Whatever else there is to do for it can be done now.
            work.free(Some(*now));
            return Ok(set_aside(work, state, on, (*most, *now)));
        };
        work.lease = Some(Lease { worker: worker.clone(), until: *until });
        work.wake_at = None;
        let outcome = Outcome::Claimed { token: work.token, news: work.news };
        Ok(Effects { messages, outcome, ..Effects::of(work) })
    }
}

/// Counts an attempt; `None` if there were too many.
fn tried(
    state: &State,
    work: &mut Work,
    on: &On,
    most: u32,
) -> Result<Option<Vec<(String, MessageState)>>, Refusal> {
    let tries = match on {
        On::Look => return Ok(Some(Vec::new())),
        On::State => &mut work.handler.attempts,
        On::Deadline => &mut work.deadline.attempts,
        On::Message(correlation) => {
            let mut message = queued(state, correlation)?;
            if message.attempts >= most {
                return Ok(None);
            }
            message.attempts = message.attempts.saturating_add(1);
            return Ok(Some(vec![(correlation.clone(), message)]));
        }
    };
    if *tries >= most {
        return Ok(None);
    }
    *tries = tries.saturating_add(1);
    Ok(Some(Vec::new()))
}

/// Sets aside what was tried too often, by workers that ended without reporting an outcome.
fn set_aside(mut work: Work, state: &State, on: &On, (most, now): (u32, Millis)) -> Effects {
    let silent = |last: Option<&Fault>| {
        let last = last.map(|last| format!("; the last error: {}", last.error)).unwrap_or_default();
        let error = format!("{most} attempts ended without an answer, such as by a crash{last}");
        Fault::new(Cause::NoAnswer, error)
    };
    let mut messages = Vec::new();
    match on {
        On::Look => {}
        On::State | On::Deadline => {
            let fault = silent(work.failed.as_ref().map(|failed| &failed.fault));
            work.failed = Some(Failed { fault, at: now, attempts: most });
            let tries = if *on == On::State { &mut work.handler } else { &mut work.deadline };
            *tries = Tries { set_aside: true, ..Tries::default() };
        }
        On::Message(correlation) => {
            let mut message = state.messages.get(correlation).cloned().unwrap_or_default();
            message.fault = Some(silent(message.fault.as_ref()));
            message.status = MessageStatus::SetAside;
            messages.push((correlation.clone(), message));
        }
    }
    Effects { messages, outcome: Outcome::SetAside, ..Effects::of(work) }
}

/// Messages that can never be taken.
fn refuse(
    state: &State,
    refused: &[(String, String)],
) -> impl Iterator<Item = (String, MessageState)> {
    refused.iter().filter_map(|(correlation, error)| {
        let message = queued(state, correlation).ok()?;
        let fault = Some(Fault::new(Cause::NotValid, error.clone()));
        let status = MessageStatus::SetAside;
        Some((correlation.clone(), MessageState { status, fault, ..message }))
    })
}

impl Moved {
    fn apply(&self, state: &State) -> Result<Effects, Refusal> {
        let Self { token, handled, refused, next, most } = self;
        let mut work = held(state, *token)?;
        let mut messages: Vec<_> = refuse(state, refused).collect();
        if let Some(correlation) = handled {
            let message = queued(state, correlation)?;
            let message = MessageState { status: MessageStatus::Handled, fault: None, ..message };
            messages.push((correlation.clone(), message));
        }
        work.progress();
        let mut outcome = Outcome::Done;
        let after = state.after(&messages);
        match next {
            // The message that comes next may have been tried too often: then the lease is released.
            Next::Go(on) => match tried(&after, &mut work, on, *most)? {
                Some(counted) => {
                    messages.extend(counted);
                    outcome = Outcome::Goes;
                }
                None => work.free(Some(Millis::MIN)),
            },
            Next::Yield { now } => work.free(Some(*now)),
        }
        Ok(Effects { messages, outcome, ..Effects::of(work) })
    }
}

/// Messages that were not taken: they can never be, or they wait for another state.
fn looked_at(
    state: &State,
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

impl Turn {
    fn apply(&self, state: &State) -> Result<Effects, Refusal> {
        let Self { token, was, on, refused, kept, most } = self;
        let mut work = held(state, *token)?;
        let mut messages = given_back(state, &mut work, was);
        messages.extend(looked_at(state, refused, kept));
        let mut outcome = Outcome::Done;
        match tried(&state.after(&messages), &mut work, on, *most)? {
            Some(counted) => {
                messages.extend(counted);
                outcome = Outcome::Goes;
            }
            None => work.free(Some(Millis::MIN)),
        }
        Ok(Effects { messages, outcome, ..Effects::of(work) })
    }
}

impl Park {
    fn apply(&self, state: &State) -> Result<Effects, Refusal> {
        let Self { token, news, now, on, sends_itself, wake_at, due_at, refused, kept } = self;
        let mut work = held(state, *token)?;
        let messages = looked_at(state, refused, kept);
        let mut outcome = Outcome::Done;
        if *on == On::State {
            work.handler = Tries::default();
            work.self_sends = if *sends_itself { work.self_sends.saturating_add(1) } else { 0 };
            // The failure of a deadline stays for as long as it says why nothing happens.
            if work.deadline == Tries::default() {
                work.failed = None;
            }
            // Each message calls it again, and so it would never rest.
            if work.self_sends >= MOST_SELF_SENDS {
                let error = format!(
                    "the handler has sent messages to its own machine {MOST_SELF_SENDS} times in a row, and the \
                     machine has not changed; make a transition, or wait without a message"
                );
                let fault = Fault::new(Cause::SelfSends, error);
                work.failed = Some(Failed { fault, at: *now, attempts: MOST_SELF_SENDS });
                work.self_sends = 0;
                work.handler = Tries { set_aside: true, ..Tries::default() };
                outcome = Outcome::SetAside;
            }
        }
        let wakes_at = [*wake_at, work.wakes_at(*due_at)].into_iter().flatten().min();
        // News that came in the meantime must not wait for the next ring.
        work.free(if work.news == *news { wakes_at } else { Some(*now) });
        Ok(Effects { messages, outcome, ..Effects::of(work) })
    }
}

impl Fail {
    fn apply(&self, state: &State) -> Result<Effects, Refusal> {
        let Self { token, on, fault, news, now, retry_at, due_at, most, hopeless } = self;
        let mut work = held(state, *token)?;
        let mut messages = Vec::new();
        let look_at = match on {
            On::Look | On::State | On::Deadline => {
                let tries =
                    if *on == On::Deadline { &mut work.deadline } else { &mut work.handler };
                // One that only looked has not counted it.
                let attempts = tries.attempts.max(1);
                work.failed = Some(Failed { fault: fault.clone(), at: *now, attempts });
                if *hopeless || tries.attempts >= *most {
                    *tries = Tries { set_aside: true, ..Tries::default() };
                } else {
                    tries.retry_at = Some(*retry_at);
                }
                // A deadline that failed does not delay other work.
                Some(*now).filter(|_| *on == On::Deadline)
            }
            On::Message(correlation) => {
                let mut message = queued(state, correlation)?;
                message.fault = Some(fault.clone());
                if *hopeless || message.attempts >= *most {
                    message.status = MessageStatus::SetAside;
                }
                messages.push((correlation.clone(), message));
                // The others go on; those that were tried less often come first.
                Some(*now)
            }
        };
        let look_at = if work.news == *news { look_at } else { Some(*now) };
        work.free([look_at, work.wakes_at(*due_at)].into_iter().flatten().min());
        Ok(Effects { messages, ..Effects::of(work) })
    }
}

fn requeue(state: &State, now: Millis, names: &[String]) -> Result<Effects, Refusal> {
    if state.ended {
        return Err(Refusal::NoWork);
    }
    let mut messages = Vec::new();
    for correlation in names {
        let message = state.messages.get(correlation).ok_or(Refusal::NotQueued)?;
        if message.status == MessageStatus::SetAside {
            let again = MessageState { sent: message.sent.clone(), ..MessageState::default() };
            messages.push((correlation.clone(), again));
        }
    }
    let work = state.work.clone().map_or(Change::Keep, |mut work| {
        work.wake(now);
        work.progress();
        Change::Set(work)
    });
    Ok(Effects { work, messages, ..Effects::default() })
}
