use super::{super::Attempted, world::name};
use crate::clock::Millis;

/// A worker's knowledge of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Seen {
    pub(super) place: usize,
    pub(super) version: u8,
    pub(super) revision: u64,
    pub(super) queued: [bool; 2],
    /// The messages that its state refused.
    pub(super) passed: [bool; 2],
    pub(super) due_at: Option<Millis>,
    pub(super) is_due: bool,
    pub(super) handler_may: bool,
    pub(super) deadline_may: bool,
}

impl Seen {
    /// Chooses what to do next, like a job of the runtime.
    pub(super) fn chooses(&self) -> Attempted {
        let wanted = self.place / 2;
        if self.deadline_may && self.is_due {
            Attempted::Deadline
        } else if self.place.is_multiple_of(2) && self.queued[wanted] && !self.passed[wanted] {
            Attempted::Message(name(wanted))
        } else if self.handler_may {
            Attempted::State
        } else {
            Attempted::Recheck
        }
    }

    /// Returns `true` if that moves the machine on.
    pub(super) fn moves(&self) -> bool {
        match self.chooses() {
            Attempted::Message(_) | Attempted::Deadline => true,
            Attempted::State => !self.place.is_multiple_of(2),
            Attempted::Recheck => false,
        }
    }
}
