use std::{collections::BTreeMap, sync::Arc};

use super::{
    super::{Attempted, Delivery, Event, EventOutcome, InboxState, MessageState, Wake},
    defect::Protocol,
    seen::Seen,
    worker::Worker,
};
use crate::{clock::Millis, store::inbox::message::Outgoing};

/// The clock does not advance. A tick brings all future events nearer instead, so that time has
/// no end and the number of states has one.
pub(super) const NOW: Millis = 0;

/// One machine that takes its first message, works, takes the second one, works, and so on, and
/// ends; its inbox and its lease; and the workers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct World {
    pub(super) state: InboxState,
    /// Where the machine is: at an even place it waits for a message, at an odd one its handler
    /// moves it.
    pub(super) place: usize,
    /// When its deadline is due: of the first place only.
    pub(super) due_at: Option<Millis>,
    /// The number of its commits.
    pub(super) version: u8,
    /// In order: which worker is which does not matter.
    pub(super) workers: Vec<Worker>,
    /// The remaining budget of rare events.
    pub(super) left: Budget,
    pub(super) facts: Facts,
}

/// Limits on how often each event happens, so that the number of states is small.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Budget {
    pub(super) claims: u8,
    pub(super) crashes: u8,
    pub(super) outsiders: u8,
    pub(super) failures: u8,
    pub(super) hand_backs: u8,
    pub(super) refusals: u8,
    pub(super) requeues: u8,
    /// Other messages with the correlation id of the first one.
    pub(super) others: u8,
}

/// Facts that are true, but not stored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Facts {
    /// The highest token that any worker was given.
    pub(super) highest: u64,
    /// The process that has the lease has certainly ended.
    pub(super) holder_crashed: bool,
    pub(super) sent: [bool; 2],
    /// The number of times that each message moved the machine.
    pub(super) handled: [u8; 2],
    /// The number of workers that each message has crashed since it was last requeued or corrected.
    pub(super) crashed_by: [u8; 2],
    /// The corresponding counts of the handler and of the deadline.
    pub(super) crashed_by_handler: u8,
    pub(super) crashed_by_deadline: u8,
    /// The revision that the last worker that let the machine wait had seen, and the messages that
    /// it passed.
    pub(super) parked: Option<(u64, [bool; 2])>,
    pub(super) fault: Option<Fault>,
}

/// A violation that can only be seen at the moment at which it happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Fault {
    /// Something was accepted under a token that is not the newest.
    OldToken,
    /// The holder was refused a legal act.
    HolderRefused,
    /// A token was given that is not higher than all before.
    TokenAgain,
    /// A sender was told that its message is known, and another one is.
    Suppressed,
    /// A message lost its correlation id to another one, and had not been set aside.
    Displaced,
}

pub(super) fn name(message: usize) -> String {
    ["a", "b"][message].to_owned()
}

pub(super) fn number(name: &str) -> usize {
    usize::from(name != "a")
}

impl World {
    pub(super) fn new(workers: usize, due_at: Option<Millis>, left: Budget) -> Self {
        let workers = vec![Worker::Idle; workers];
        let (state, facts) = (InboxState::default(), Facts::default());
        Self { state, place: 0, due_at, version: 0, workers, left, facts }
    }

    /// Applies an event to inbox and lease; `None` if it is refused.
    pub(super) fn apply_event(
        &mut self,
        protocol: Protocol,
        event: &Event,
    ) -> Option<EventOutcome> {
        let newest = event.held_token().is_none_or(|token| token == self.facts.highest);
        let Ok(effects) = protocol.step(&self.state, event) else {
            let work = self.state.work.as_ref();
            let lease = work.filter(|work| work.lease.is_some()).map(|work| work.token);
            if lease.is_some() && event.held_token() == lease {
                self.facts.fault = Some(Fault::HolderRefused);
            }
            return None;
        };
        if !newest {
            self.facts.fault = Some(Fault::OldToken);
        }
        self.state.apply(&effects);
        self.forget_texts();
        Some(effects.outcome)
    }

    /// Errors decide nothing, and neither does how long ago something was due, nor a number that
    /// repeats what the messages say.
    fn forget_texts(&mut self) {
        if let Some(work) = &mut self.state.work {
            (work.failed, work.queued) = (None, 0);
            work.wake =
                work.wake.map(|wake| if wake.is_due(NOW) { Wake::ready(NOW) } else { wake });
        }
        for message in self.state.messages.values_mut() {
            message.fault = None;
        }
    }

    pub(super) fn tick(&mut self) {
        let nearer = |at: &mut Millis| *at = (*at - 1).max(NOW);
        self.due_at.iter_mut().for_each(nearer);
        for worker in &mut self.workers {
            worker.seen_mut().and_then(|seen| seen.due_at.as_mut()).into_iter().for_each(nearer);
        }
        self.workers.sort();
        if let Some(work) = &mut self.state.work {
            work.lease.iter_mut().map(|lease| &mut lease.until).for_each(nearer);
            let retries = [&mut work.handler.retry_at, &mut work.deadline.retry_at];
            let wakes = work.wake.iter_mut().map(|wake| &mut wake.at);
            retries.into_iter().flatten().chain(wakes).for_each(nearer);
        }
        self.forget_texts();
    }

    pub(super) fn send(&mut self, protocol: Protocol, message: usize) {
        self.arrives(protocol, message, "");
        self.facts.sent[message] = true;
    }

    /// Another message with the same correlation id. What was done to the one before does not count
    /// for it.
    pub(super) fn send_other(&mut self, protocol: Protocol) {
        if self.arrives(protocol, 0, "other") {
            self.facts.crashed_by[0] = 0;
        }
    }

    /// Sends a message; returns `true` if it was accepted.
    fn arrives(&mut self, protocol: Protocol, message: usize, body: &str) -> bool {
        let sent = Arc::new(Outgoing {
            correlation: name(message),
            actor: "human".to_owned(),
            name: None,
            body: body.to_owned(),
            seen: None,
        });
        let before = self.message(message).cloned();
        let event = Event::Send { message: Arc::clone(&sent), now: NOW };
        let Some(outcome) = self.apply_event(protocol, &event) else { return false };
        let is_other = before.as_ref().is_some_and(|it| it.sent.as_ref() != Some(&sent));
        let was_set_aside = before.is_some_and(|it| it.status == Delivery::SetAside);
        if outcome == EventOutcome::Duplicate {
            if is_other {
                self.facts.fault = Some(Fault::Suppressed);
            }
            return false;
        }
        if is_other && !was_set_aside {
            self.facts.fault = Some(Fault::Displaced);
        }
        true
    }

    /// Changes the machine without the lease, in a batch that the event belongs to.
    pub(super) fn change(&mut self, protocol: Protocol) {
        self.version += 1;
        self.forgive();
        self.apply_event(protocol, &Event::Notify { moved: true, now: NOW });
    }

    /// The machine moves on. That it has ended is part of the batch.
    pub(super) fn moves(&mut self, protocol: Protocol, messages: usize) {
        self.version += 1;
        self.place += 1;
        self.due_at = None;
        self.forgive();
        if self.place == 2 * messages {
            self.apply_event(protocol, &Event::End);
        }
    }

    pub(super) fn requeue(&mut self, protocol: Protocol) {
        let messages = self.state.messages.keys().cloned().collect();
        self.apply_event(protocol, &Event::Requeue { now: NOW, messages });
        self.facts.crashed_by = [0; 2];
        self.forgive();
    }

    /// Resets the crash counts of the handler and of the deadline.
    fn forgive(&mut self) {
        (self.facts.crashed_by_handler, self.facts.crashed_by_deadline) = (0, 0);
    }

    /// The fencing token and the state that a worker reads.
    pub(super) fn read(&self) -> Option<(u64, Seen)> {
        let work = self.state.work.as_ref()?;
        let mut queued = [false; 2];
        for (name, message) in &self.state.messages {
            queued[number(name)] = message.status == Delivery::Queued;
        }
        let (place, version, revision) = (self.place, self.version, work.revision);
        let (due_at, passed) = (self.due_at, [false; 2]);
        let is_due = due_at.is_some_and(|at| at <= NOW);
        let (handler_may, deadline_may) = (work.may_handle(NOW), work.may_fire(NOW));
        let seen = Seen {
            place,
            version,
            revision,
            queued,
            passed,
            due_at,
            is_due,
            handler_may,
            deadline_may,
        };
        Some((work.token, seen))
    }

    pub(super) fn message(&self, message: usize) -> Option<&MessageState> {
        self.messages().get(&name(message))
    }

    fn messages(&self) -> &BTreeMap<String, MessageState> {
        &self.state.messages
    }

    /// Returns `true` if nothing came that lets the handler and the deadline begin again.
    pub(super) fn counts(&self, seen: &Seen) -> bool {
        self.state.work.as_ref().is_some_and(|work| work.revision == seen.revision)
    }

    /// The attempt at this, as it is stored.
    pub(super) fn attempts(&self, on: &Attempted) -> Option<u32> {
        match on {
            Attempted::Recheck => None,
            Attempted::State => self.state.work.as_ref().map(|work| work.handler.attempts),
            Attempted::Deadline => self.state.work.as_ref().map(|work| work.deadline.attempts),
            Attempted::Message(name) => self.messages().get(name).map(|message| message.attempts),
        }
    }
}
