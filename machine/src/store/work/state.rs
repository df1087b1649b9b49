use std::collections::BTreeMap;

use super::{Change, Effects};
use crate::clock::Millis;

/// What inbox and lease know of one machine: all that an event needs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct State {
    /// It is in a terminal state.
    pub(crate) ended: bool,
    /// `None` if no worker drives machines of its kind, and after the machine has ended.
    pub(crate) work: Option<Work>,
    /// Its messages, by correlation id. A backend reads only those that the event names.
    pub(crate) messages: BTreeMap<String, MessageState>,
}

/// Whose turn it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Work {
    /// The fencing token: rises with each claim, and is never given back.
    pub(crate) token: u64,
    /// Who has it now.
    pub(crate) lease: Option<Lease>,
    /// When a worker should look at it, while nobody has it; `None` while there is nothing to do.
    pub(crate) wake_at: Option<Millis>,
    /// When the handler may run again, after it has failed.
    pub(crate) retry_at: Option<Millis>,
    /// Rises with each message, and with each change by somebody who has no lease. A worker that has
    /// seen all of it may wait; otherwise it must look again.
    pub(crate) news: u64,
    /// How often the handler of this state was started without an end.
    pub(crate) attempts: u32,
    /// The handler failed too often; it does not run before somebody requeues the machine or changes
    /// its state. Messages and deadlines still move it.
    pub(crate) set_aside: bool,
    /// The last error.
    pub(crate) error: Option<String>,
}

/// A lease.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Lease {
    /// The worker: an id that is new with each start of a process.
    pub(crate) worker: String,
    /// When others may take it over.
    pub(crate) until: Millis,
}

/// Where a message is on its way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum MessageStatus {
    /// It waits for a state that takes it.
    #[default]
    Queued = 0,
    /// The machine made its transition, in the same batch.
    Handled = 1,
    /// It cannot be handled. It is kept, with the error.
    SetAside = 2,
}

impl MessageStatus {
    pub(crate) fn from_number(number: i64) -> Option<Self> {
        [Self::Queued, Self::Handled, Self::SetAside]
            .into_iter()
            .find(|status| *status as i64 == number)
    }
}

/// What may change of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct MessageState {
    pub(crate) status: MessageStatus,
    /// How often it was tried.
    pub(crate) attempts: u32,
    /// Why it was not taken, or why it was set aside.
    pub(crate) error: Option<String>,
}

/// Why the messages of an ended machine are set aside.
pub(crate) const ENDED: &str = "the machine has ended";

impl State {
    /// What is known after a step.
    pub(crate) fn apply(&mut self, effects: &Effects) {
        match &effects.work {
            Change::Keep => {}
            Change::Set(work) => self.work = Some(work.clone()),
            Change::Remove => self.work = None,
        }
        for (correlation, message) in &effects.messages {
            self.messages.insert(correlation.clone(), message.clone());
        }
        if effects.ends {
            self.ended = true;
            for message in self.messages.values_mut() {
                if message.status == MessageStatus::Queued {
                    message.status = MessageStatus::SetAside;
                    message.error = Some(ENDED.to_owned());
                }
            }
        }
    }
}
