//! The attempts of workers, which are counted before they begin.

use super::{
    Attempted, Cause, Delivery, Effects, EventOutcome, EventRefusal, Fault, InboxState,
    LastFailure, MessageState, Schedule, Tries, Wake, step::queued,
};
use crate::clock::Millis;

/// Uncounts an attempt that was handed back.
pub(super) fn given_back(
    state: &InboxState,
    work: &mut Schedule,
    on: &Attempted,
) -> Vec<(String, MessageState)> {
    match on {
        Attempted::Recheck => {}
        Attempted::State => work.handler.attempts = work.handler.attempts.saturating_sub(1),
        Attempted::Deadline => work.deadline.attempts = work.deadline.attempts.saturating_sub(1),
        Attempted::Message(correlation) => {
            if let Ok(mut message) = queued(state, correlation) {
                message.attempts = message.attempts.saturating_sub(1);
                return vec![(correlation.clone(), message)];
            }
        }
    }
    Vec::new()
}

/// Counts an attempt; `None` if there were too many.
pub(super) fn tried(
    state: &InboxState,
    work: &mut Schedule,
    on: &Attempted,
    max_attempts: u32,
) -> Result<Option<Vec<(String, MessageState)>>, EventRefusal> {
    let tries = match on {
        Attempted::Recheck => return Ok(Some(Vec::new())),
        Attempted::State => &mut work.handler.attempts,
        Attempted::Deadline => &mut work.deadline.attempts,
        Attempted::Message(correlation) => {
            let mut message = queued(state, correlation)?;
            if message.attempts >= max_attempts {
                return Ok(None);
            }
            message.attempts = message.attempts.saturating_add(1);
            return Ok(Some(vec![(correlation.clone(), message)]));
        }
    };
    if *tries >= max_attempts {
        return Ok(None);
    }
    *tries = tries.saturating_add(1);
    if *on == Attempted::State {
        (work.seen_end, work.unseen_end) = (work.ended_at(), None);
    }
    Ok(Some(Vec::new()))
}

/// Counts the next attempt of the holder, who has seen this revision and changed these messages.
/// The lease is released if there were too many, or if something that the holder has not seen may
/// have come before the deadline.
pub(super) fn begun(
    state: &InboxState,
    work: &mut Schedule,
    on: &Attempted,
    (revision, max_attempts): (u64, u32),
    messages: &mut Vec<(String, MessageState)>,
) -> Result<EventOutcome, EventRefusal> {
    let is_early = *on == Attempted::Deadline && work.revision != revision;
    let after = state.after(messages);
    let counted = if is_early { None } else { tried(&after, work, on, max_attempts)? };
    let Some(counted) = counted else {
        work.free(Some(Wake::ready(Millis::MIN)));
        return Ok(EventOutcome::Done);
    };
    messages.extend(counted);
    Ok(EventOutcome::Goes)
}

/// Sets aside work with too many attempts by workers that ended without an outcome.
pub(super) fn set_aside(
    mut work: Schedule,
    state: &InboxState,
    on: &Attempted,
    (max_attempts, now): (u32, Millis),
) -> Effects {
    let silent = |last: Option<&Fault>| {
        let last = last.map(|last| format!("; the last error: {}", last.error)).unwrap_or_default();
        let error = format!(
            "{max_attempts} attempts ended without an answer, for example in a crash{last}"
        );
        Fault::new(Cause::NoAnswer, error)
    };
    let mut messages = Vec::new();
    match on {
        Attempted::Recheck => {}
        Attempted::State | Attempted::Deadline => {
            let fault = silent(work.failed.as_ref().map(|failed| &failed.fault));
            work.failed = Some(LastFailure { fault, at: now, attempts: max_attempts });
            let tries =
                if *on == Attempted::State { &mut work.handler } else { &mut work.deadline };
            *tries = Tries { set_aside: true, ..Tries::default() };
        }
        Attempted::Message(correlation) => {
            let mut message = state.messages.get(correlation).cloned().unwrap_or_default();
            message.fault = Some(silent(message.fault.as_ref()));
            message.status = Delivery::SetAside;
            messages.push((correlation.clone(), message));
        }
    }
    Effects { messages, outcome: EventOutcome::SetAside, ..Effects::of(work) }
}
