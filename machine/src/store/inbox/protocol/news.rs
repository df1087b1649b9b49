//! Events of others than the holder of the lease: messages, other writers, children and people.

use std::sync::Arc;

use super::{
    Delivery, Effects, EventOutcome, EventRefusal, InboxState, MessageState, Schedule, Wake,
    WorkChange, ended,
};
use crate::{clock::Millis, store::inbox::message::Outgoing};

pub(super) fn drive(state: &InboxState, now: Millis) -> Effects {
    if state.ended || state.work.is_some() {
        return Effects::default();
    }
    let (wake, queued) = (Some(Wake::ready(now)), state.count_queued());
    Effects::of(Schedule { wake, queued, ..Schedule::default() })
}

pub(super) fn send(
    state: &InboxState,
    message: &Arc<Outgoing>,
    now: Millis,
) -> Result<Effects, EventRefusal> {
    let replaces = match state.messages.get(&message.correlation) {
        None => false,
        Some(known) => {
            let sent = known.sent.as_ref();
            let is_same = sent.is_some_and(|sent| sent.is_same(message));
            let is_corrected = !is_same || sent.is_some_and(|sent| sent.seen != message.seen);
            match known.status {
                // A message that was set aside does not keep a better one away. It is never taken
                // itself: so of each correlation id one message is taken.
                Delivery::SetAside | Delivery::Replaced if is_corrected => true,
                // The first one is still there, with its own condition.
                Delivery::Queued if is_corrected => return Err(EventRefusal::OtherMessage),
                _ if is_same => {
                    return Ok(Effects { outcome: EventOutcome::Duplicate, ..Effects::default() });
                }
                _ => return Err(EventRefusal::OtherMessage),
            }
        }
    };
    let sent = Some(Arc::clone(message));
    if state.ended {
        let (status, fault) = (Delivery::SetAside, Some(ended(None)));
        let known = MessageState { status, fault, attempts: 0, sent };
        let messages = vec![(message.correlation.clone(), known)];
        return Ok(Effects {
            messages,
            replaces,
            outcome: EventOutcome::Ended,
            ..Effects::default()
        });
    }
    let work = revision(state, false, now).work;
    let known = MessageState { sent, ..MessageState::default() };
    let messages = vec![(message.correlation.clone(), known)];
    Ok(Effects { work, messages, replaces, ..Effects::default() })
}

pub(super) fn revision(state: &InboxState, moved: bool, now: Millis) -> Effects {
    let Some(mut work) = state.work.clone() else { return Effects::default() };
    work.wake(now);
    if moved {
        work.progress();
    }
    Effects::of(work)
}

pub(super) fn child_ended(state: &InboxState, now: Millis) -> Effects {
    let mut effects = revision(state, false, now);
    if let WorkChange::Set(work) = &mut effects.work {
        work.unseen_end.get_or_insert(now);
    }
    effects
}

/// The handler of the next state does not wait for children that ended before.
pub(super) fn left(state: &InboxState) -> Effects {
    let work = state.work.clone().filter(|work| work.ended_at().is_some());
    let forgotten = |work| Schedule { unseen_end: None, seen_end: None, ..work };
    work.map(forgotten).map_or_else(Effects::default, Effects::of)
}

pub(super) fn requeue(
    state: &InboxState,
    now: Millis,
    names: &[String],
) -> Result<Effects, EventRefusal> {
    if state.ended {
        return Err(EventRefusal::NoWork);
    }
    let mut messages = Vec::new();
    for correlation in names {
        let message = state.messages.get(correlation).ok_or(EventRefusal::NotQueued)?;
        if message.status == Delivery::SetAside {
            let again = MessageState { sent: message.sent.clone(), ..MessageState::default() };
            messages.push((correlation.clone(), again));
        }
    }
    let work = revision(state, true, now).work;
    Ok(Effects { work, messages, ..Effects::default() })
}
