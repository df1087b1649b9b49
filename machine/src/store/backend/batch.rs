use std::sync::Arc;

use super::{
    claim::{AttemptChange, Claim},
    crew::Crew,
    row::Row,
};
use crate::{
    clock::{Clock, Millis},
    definition::Definition,
    id::Id,
    journal::Line,
    store::{
        inbox::{
            consumer::Advance,
            protocol::{Event, Outcome, Refusal},
        },
        operation::Logged,
        upkeep::{pruned::Kept, pruning::Prune},
    },
    stored::ToolUse,
};

/// Writes that happen together.
#[derive(Debug, Clone)]
pub(crate) struct Batch {
    /// A random number that is stored with every row of the batch. The same batch, sent again after
    /// an error that left its outcome open, is recognized by it and answered with success.
    pub(crate) commit_id: i64,
    /// The definitions that rows and lines refer to. Those that are missing are written.
    pub(crate) definitions: Vec<Arc<Definition>>,
    pub(crate) writes: Vec<Write>,
    /// The events of inboxes and leases. Each is decided by [`step`](crate::store::inbox::protocol::step), before
    /// anything is written.
    pub(crate) events: Vec<(Id, Event)>,
    /// Machines that become children: the child, and its parent.
    pub(crate) children: Vec<(Id, Id)>,
    /// Kinds of machines that workers drive from now on.
    pub(crate) drives: Vec<String>,
    /// A worker that starts, or workers that have ended.
    pub(crate) crew: Option<Crew>,
    /// Tools that are irreversible from now on.
    pub(crate) tools: Vec<String>,
    /// Machines to prune. What must not be pruned is kept, and keeps nothing else from being written.
    pub(crate) prune: Option<Prune>,
    /// A consumer that moves on.
    pub(crate) advance: Option<Advance>,
    /// The records for the operator log.
    pub(crate) log: Vec<Logged>,
    /// Further conditions that must hold in the transaction.
    pub(crate) conditions: Vec<Condition>,
    /// The machines whose writes are left out if they are in another version by then, after all others.
    pub(crate) yielding: Vec<Id>,
    /// The time, for what the writes cause.
    pub(crate) now: Millis,
}

/// A condition on the moment of a write, which may come long after the checks before it.
#[derive(Debug, Clone)]
pub(crate) enum Condition {
    /// The approval that this gate gave has not ended.
    Approved { id: Id, gate: Id, at: Millis, clock: Arc<dyn Clock> },
    /// No gate of an action with this key has an entry after this one, so that the newest answer is the one that
    /// was checked.
    NoNewAnswer { id: Id, key: String, after: u64 },
    /// The machine is in this version: what was decided about it is not about an older one.
    Version { id: Id, version: u64 },
    /// No child of this machine and status is missing here, so that none was added since they were read.
    NoOtherChild { parent: Id, machine: String, status: String, known: Vec<Id> },
}

impl Batch {
    /// A batch of nothing.
    pub(crate) fn new(commit_id: i64, now: Millis) -> Self {
        let (definitions, writes, events) = (Vec::new(), Vec::new(), Vec::new());
        let (children, drives, tools) = (Vec::new(), Vec::new(), Vec::new());
        let (prune, advance, log, conditions) = (None, None, Vec::new(), Vec::new());
        let crew = None;
        Self {
            commit_id,
            definitions,
            writes,
            events,
            children,
            drives,
            crew,
            tools,
            prune,
            advance,
            log,
            conditions,
            yielding: Vec::new(),
            now,
        }
    }

    /// The batch without the writes that yield, of machines in another version; `None` if all are in the expected
    /// one.
    pub(crate) fn without_moved<E>(
        &self,
        version: impl Fn(Id) -> Result<Option<u64>, E>,
    ) -> Result<Option<Self>, E> {
        let mut moved = Vec::new();
        for write in self.writes.iter().filter(|write| self.yielding.contains(&write.row.id)) {
            if version(write.row.id)? != write.expected {
                moved.push(write.row.id);
            }
        }
        if moved.is_empty() {
            return Ok(None);
        }
        let mut left = self.clone();
        left.writes.retain(|write| !moved.contains(&write.row.id));
        Ok(Some(left))
    }

    /// The approval that has ended by now.
    pub(crate) fn expired(&self) -> Option<Rejected> {
        self.conditions.iter().find_map(|condition| match condition {
            Condition::Approved { id, gate, at, clock } if clock.now() >= *at => {
                Some(Rejected::ApprovalExpired { id: *id, gate: *gate, at: *at })
            }
            _ => None,
        })
    }

    /// Checks whether it only writes machines, without further conditions.
    pub(crate) fn is_plain(&self) -> bool {
        self.has_no_work()
            && self.conditions.is_empty()
            && self.prune.is_none()
            && self.advance.is_none()
            && self.log.is_empty()
    }

    /// Checks whether it leaves inboxes, leases and tools alone, apart from what its writes cause.
    pub(crate) fn has_no_work(&self) -> bool {
        self.events.is_empty()
            && self.children.is_empty()
            && self.drives.is_empty()
            && self.crew.is_none()
            && self.tools.is_empty()
    }

    /// Checks whether it creates this machine.
    pub(crate) fn creates(&self, id: Id) -> bool {
        self.writes.iter().any(|write| write.row.id == id && write.expected.is_none())
    }

    /// Checks whether the lease holder of this machine is among the writers: its own writes do not wake it.
    pub(crate) fn is_by_holder(&self, id: Id) -> bool {
        self.events.iter().any(|(of, event)| *of == id && matches!(event, Event::Moved(_)))
    }
}

/// The part of a batch that writes one machine.
#[derive(Debug, Clone)]
pub(crate) struct Write {
    /// The number of lines that the machine has on disk (compare-and-set); `None` creates it.
    pub(crate) expected: Option<u64>,
    pub(crate) row: Row,
    /// The new lines, in order.
    pub(crate) lines: Vec<Line>,
    /// The precondition on its key, checked before anything is written.
    pub(crate) claim: Option<Claim>,
    /// The change of its attempt.
    pub(crate) attempt: Option<AttemptChange>,
    /// The tool that it calls, which is compared with what is known of it before anything is written.
    /// See [`Tool`](crate::store::write::tool::Tool).
    pub(crate) tool: Option<ToolUse>,
}

/// A batch is durable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Applied {
    /// The sequence number of the last line of each write.
    pub(crate) last: Vec<u64>,
    /// The outcome of each event.
    pub(crate) outcomes: Vec<Outcome>,
    /// The number of pruned entries of each candidate, or why it was kept.
    pub(crate) pruned: Vec<Result<u64, Kept>>,
    /// The consumer was where the batch expected it, and has moved on.
    pub(crate) advanced: bool,
    /// The number of the operation that was written into the operator log.
    pub(crate) logged: Option<u64>,
}

/// A precondition does not hold. Nothing was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rejected {
    Conflict(Id),
    NotFound(Id),
    AlreadyStored(Id),
    AlreadyDone {
        id: Id,
        by: Id,
    },
    KeyHeld {
        id: Id,
        by: Id,
    },
    KeyReused {
        id: Id,
        by: Id,
    },
    /// An attempt at the key of this machine cannot be trusted.
    BrokenAttempt {
        id: Id,
        reason: String,
    },
    /// The approval of this execution has ended.
    ApprovalExpired {
        id: Id,
        gate: Id,
        at: Millis,
    },
    /// The parent of a new child is in a terminal state.
    Ended(Id),
    /// The protocol of inboxes and leases forbids an event.
    Refused {
        id: Id,
        refusal: Refusal,
    },
    /// Another message to this machine has the correlation id of one that is sent.
    OtherMessage {
        id: Id,
        correlation: String,
    },
    /// A tool, or an action, that is known to be irreversible.
    EffectLowered {
        id: Id,
        what: String,
    },
    /// A tool whose keys are known to be made with an identity, or known to be made without.
    IdentityChanged {
        id: Id,
        tool: String,
        identity: bool,
    },
}

impl Rejected {
    /// An event of this machine was refused.
    pub(crate) fn by_protocol(id: Id, event: &Event, refusal: Refusal) -> Self {
        match (event, refusal) {
            (Event::Send { message, .. }, Refusal::OtherMessage) => {
                Self::OtherMessage { id, correlation: message.correlation.clone() }
            }
            _ => Self::Refused { id, refusal },
        }
    }
}
