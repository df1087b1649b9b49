use std::collections::BTreeMap;

use super::{Delivery, InboxState, MessageState, Schedule};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Effects {
    pub(crate) work: WorkChange,
    /// The messages that are new or change.
    pub(crate) messages: Vec<(String, MessageState)>,
    /// The message that is sent takes the correlation id of one that was set aside. That one is
    /// kept.
    pub(crate) replaces: bool,
    pub(crate) ends: bool,
    pub(crate) outcome: EventOutcome,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "there is one at a time")]
pub(crate) enum WorkChange {
    #[default]
    Keep,
    Set(Schedule),
    Remove,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum EventOutcome {
    #[default]
    Done,
    /// The message is known: its sender sent the same before.
    Duplicate,
    /// The message is for a machine that has ended; it was set aside.
    Ended,
    /// The requested work was tried too often; it was set aside, and no worker has the lease.
    SetAside,
    /// The lease was claimed: its fencing token and the current revision.
    Claimed { token: u64, revision: u64 },
    /// The holder continues; its next work counts as tried.
    Goes,
}

/// Why an event is refused. Nothing changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum EventRefusal {
    /// No worker drives it, or it has ended.
    NoWork,
    /// The lease is not, or no longer, that of this token.
    Lost,
    /// Another worker has the lease, or was faster.
    Taken,
    NotReady,
    /// The message was handled, or set aside.
    NotQueued,
    OtherMessage,
    /// A person sends a message that is known.
    Duplicate,
    /// A person sends a message to a machine that has ended.
    Ended,
}

impl Effects {
    pub(super) fn of(work: Schedule) -> Self {
        Self { work: WorkChange::Set(work), ..Self::default() }
    }

    /// Counts the messages that are queued with it, and those that no longer are.
    pub(super) fn counted(mut self, state: &InboxState) -> Self {
        let is_queued = |message: &MessageState| message.status == Delivery::Queued;
        // The last change of a message counts.
        let after: BTreeMap<_, _> =
            self.messages.iter().map(|(name, message)| (name, is_queued(message))).collect();
        let (mut added, mut settled) = (0, 0);
        for (name, is_now) in after {
            match (state.messages.get(name).is_some_and(is_queued), is_now) {
                (false, true) => added += 1,
                (true, false) => settled += 1,
                _ => {}
            }
        }
        if added == settled {
            return self;
        }
        if let (WorkChange::Keep, Some(work)) = (&self.work, &state.work) {
            self.work = WorkChange::Set(work.clone());
        }
        if let WorkChange::Set(work) = &mut self.work {
            work.queued = work.queued.saturating_add(added).saturating_sub(settled);
        }
        self
    }

    /// Refuses an act of a person that would achieve nothing, because the same batch logs it as
    /// done.
    pub(crate) fn of_person(self) -> Result<Self, EventRefusal> {
        match self.outcome {
            EventOutcome::Duplicate => Err(EventRefusal::Duplicate),
            EventOutcome::Ended => Err(EventRefusal::Ended),
            _ => Ok(self),
        }
    }
}
