use std::{collections::BTreeMap, sync::Arc};

use super::{Cause, Delivery, Effects, Fault, LastFailure, WorkChange};
use crate::{clock::Millis, store::inbox::message::Outgoing};

/// The state of the inbox and the lease of one machine: all that an event needs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct InboxState {
    pub(crate) ended: bool,
    /// `None` if no worker drives machines of its kind, and after the machine has ended.
    pub(crate) work: Option<Schedule>,
    /// The newest message of each correlation id; older ones were replaced. A backend reads only
    /// those that the event names.
    pub(crate) messages: BTreeMap<String, MessageState>,
}

/// Whose turn it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Schedule {
    /// The fencing token: rises with each claim, and is never given back.
    pub(crate) token: u64,
    pub(crate) lease: Option<Lease>,
    /// A worker has taken it over from another one, which may still be at work, and no handler has
    /// made a transition since.
    pub(crate) taken_over: bool,
    /// When it is due for a worker, while no worker has it; `None` while there is nothing to do.
    pub(crate) wake: Option<Wake>,
    /// Since when it has waited for another program, while no worker has it: the last one does not
    /// support one of its messages.
    pub(crate) others_at: Option<Millis>,
    /// Rises with each message, and with each change without the lease. A worker that has seen all
    /// of it may wait; otherwise it must look again.
    pub(crate) revision: u64,
    /// The attempts at the handler of this state. If it is set aside, messages and deadlines still
    /// move the machine.
    pub(crate) handler: Tries,
    /// The number of consecutive times that the handler of this state sent messages to its own
    /// machine, and waited.
    pub(crate) self_sends: u32,
    /// The attempts at its due deadlines.
    pub(crate) deadline: Tries,
    /// The last failure, until the attempt succeeds.
    pub(crate) failed: Option<LastFailure>,
    /// When the first child ended since the handler was last called.
    pub(crate) unseen_end: Option<Millis>,
    /// When the first child ended before that, since the handler last returned.
    pub(crate) seen_end: Option<Millis>,
    pub(crate) queued: u32,
    /// Since when nothing can move the machine, as far as the worker knew that let it wait.
    pub(crate) stuck_at: Option<Millis>,
}

/// When a machine is due for a worker: once the clock shows `at`, or a time before `set_at`,
/// because then it went back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Wake {
    /// It orders the machines that are due.
    pub(crate) at: Millis,
    /// When a worker's own timer was set. A deadline of a state has none, so that it never fires
    /// early.
    pub(crate) set_at: Option<Millis>,
}

impl Wake {
    /// Ready since this time, whatever the clock shows: it is before `set_at`, or it is not.
    pub(crate) const fn ready(since: Millis) -> Self {
        Self { at: since, set_at: Some(since) }
    }

    /// At this time by the clock, and never before.
    pub(crate) const fn by_clock(at: Millis) -> Self {
        Self { at, set_at: None }
    }

    pub(crate) fn is_due(self, now: Millis) -> bool {
        self.at <= now || self.is_from_later(now)
    }

    /// It was set at a time that the clock shows no more.
    pub(crate) fn is_from_later(self, now: Millis) -> bool {
        self.set_at.is_some_and(|set_at| now < set_at)
    }

    /// The first of two.
    pub(crate) fn or(self, other: Self) -> Self {
        Self { at: self.at.min(other.at), set_at: self.set_at.max(other.set_at) }
    }
}

/// The attempts at one thing, without an end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Tries {
    /// The number of attempts that were begun.
    pub(crate) attempts: u32,
    /// When it may be tried again, after it has failed. The timer was set at the last failure.
    pub(crate) retry_at: Option<Millis>,
    /// It was tried too often: not again before the machine is requeued or its state changes.
    pub(crate) set_aside: bool,
}

impl Schedule {
    /// Returns `true` if the handler may be tried now.
    pub(crate) fn may_handle(&self, now: Millis) -> bool {
        self.may(&self.handler, now)
    }

    /// Returns `true` if a deadline that is due may be tried now.
    pub(crate) fn may_fire(&self, now: Millis) -> bool {
        self.may(&self.deadline, now)
    }

    /// Workers do not call its handler, or do not fire its deadline, before a person requeues it or
    /// there is news.
    pub(crate) fn needs_requeue(&self) -> bool {
        self.handler.set_aside || self.deadline.set_aside || self.stuck_at.is_some()
    }

    /// A worker has let it wait, and has nothing to do for it yet. It may be ready for another
    /// program.
    pub(crate) fn rests(&self, now: Millis) -> bool {
        self.lease.is_none() && self.wake.is_none_or(|wake| !wake.is_due(now))
    }

    fn may(&self, tries: &Tries, now: Millis) -> bool {
        !tries.set_aside && self.retry(tries).is_none_or(|retry| retry.is_due(now))
    }

    fn retry(&self, tries: &Tries) -> Option<Wake> {
        let set_at = self.failed.as_ref().map(|failed| failed.at);
        tries.retry_at.map(|at| Wake { at, set_at })
    }

    /// When the first child ended since the handler last returned.
    pub(crate) fn ended_at(&self) -> Option<Millis> {
        self.unseen_end.into_iter().chain(self.seen_end).min()
    }

    /// The handler is tried again before this deadline fires: it failed after a child had ended in
    /// time.
    pub(crate) fn holds(&self, due_at: Millis) -> bool {
        let is_in_time = self.ended_at().is_some_and(|at| at <= due_at);
        is_in_time && self.handler.retry_at.is_some() && !self.handler.set_aside
    }

    /// When a worker that looks now has to look again, if nothing comes in between: at the next
    /// attempt of the handler, or at a deadline.
    pub(crate) fn wakes_at(&self, due_at: Option<Millis>, now: Millis) -> Option<Wake> {
        let handler = self.retry(&self.handler).filter(|_| !self.handler.set_aside);
        let due_at = due_at.filter(|due_at| !self.deadline.set_aside && !self.holds(*due_at));
        // One whose attempt may be repeated waits for the deadline only.
        let retry = self.retry(&self.deadline).filter(|retry| !retry.is_due(now));
        let deadline = due_at.map(|due_at| match retry {
            Some(retry) => Wake { at: retry.at.max(due_at), ..retry },
            None => Wake::by_clock(due_at),
        });
        [handler, deadline].into_iter().flatten().reduce(Wake::or)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Lease {
    /// The worker: an id that is new with each start of a process.
    pub(crate) worker: String,
    /// When others may take it over.
    pub(crate) until: Millis,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct MessageState {
    pub(crate) status: Delivery,
    pub(crate) attempts: u32,
    /// Why it was not taken, or why it was set aside.
    pub(crate) fault: Option<Fault>,
    /// The content as sent. A backend reads it only for the message that is sent.
    pub(crate) sent: Option<Arc<Outgoing>>,
}

/// Why a message of an ended machine is set aside, and what was wrong with it before.
pub(crate) fn ended(before: Option<&Fault>) -> Fault {
    let before =
        before.map(|before| format!("; before that: {}", before.error)).unwrap_or_default();
    Fault::new(Cause::Ended, format!("the machine has ended{before}"))
}

impl InboxState {
    /// The number of queued messages among those that are known.
    pub(crate) fn count_queued(&self) -> u32 {
        let queued = self.messages.values().filter(|it| it.status == Delivery::Queued);
        u32::try_from(queued.count()).unwrap_or(u32::MAX)
    }

    /// The state after these changes of messages, one after the other.
    pub(super) fn after(&self, messages: &[(String, MessageState)]) -> Self {
        let mut after = self.clone();
        after.messages.extend(messages.iter().cloned());
        after
    }

    pub(crate) fn apply(&mut self, effects: &Effects) {
        match &effects.work {
            WorkChange::Keep => {}
            WorkChange::Set(work) => self.work = Some(work.clone()),
            WorkChange::Remove => self.work = None,
        }
        for (correlation, message) in &effects.messages {
            self.messages.insert(correlation.clone(), message.clone());
        }
        if effects.ends {
            self.ended = true;
            for message in self.messages.values_mut() {
                if message.status == Delivery::Queued {
                    message.status = Delivery::SetAside;
                    message.fault = Some(ended(message.fault.as_ref()));
                }
            }
        }
    }
}
