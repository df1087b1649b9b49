use std::sync::Arc;

use super::{
    claim::{AttemptChange, Claim},
    row::Row,
};
use crate::{
    clock::Millis,
    definition::Definition,
    id::Id,
    journal::Line,
    store::{
        consumer::Advance,
        operation::Logged,
        pruned::Kept,
        pruning::Prune,
        work::{Event, Outcome, Refusal},
    },
    stored::ToolEffect,
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
    /// What happens to inboxes and leases. Each is decided by [`step`](crate::store::work::step), before
    /// anything is written.
    pub(crate) events: Vec<(Id, Event)>,
    /// Machines that become children: the child, and its parent.
    pub(crate) children: Vec<(Id, Id)>,
    /// Kinds of machines that workers drive from now on.
    pub(crate) drives: Vec<String>,
    /// Machines to prune. What must not be pruned is kept, and keeps nothing else from being written.
    pub(crate) prune: Option<Prune>,
    /// A consumer that moves on.
    pub(crate) advance: Option<Advance>,
    /// What goes into the operator log.
    pub(crate) log: Option<Logged>,
    /// The time, for what the writes cause.
    pub(crate) now: Millis,
}

impl Batch {
    /// A batch of nothing.
    pub(crate) fn new(commit_id: i64, now: Millis) -> Self {
        let (definitions, writes, events) = (Vec::new(), Vec::new(), Vec::new());
        let (children, drives) = (Vec::new(), Vec::new());
        let (prune, advance, log) = (None, None, None);
        Self { commit_id, definitions, writes, events, children, drives, prune, advance, log, now }
    }

    /// Whether it only writes machines.
    pub(crate) fn is_plain(&self) -> bool {
        self.has_no_work() && self.prune.is_none() && self.advance.is_none() && self.log.is_none()
    }

    /// Whether it leaves inboxes and leases alone, apart from what its writes cause.
    pub(crate) fn has_no_work(&self) -> bool {
        self.events.is_empty() && self.children.is_empty() && self.drives.is_empty()
    }

    /// Whether it creates this machine.
    pub(crate) fn creates(&self, id: Id) -> bool {
        self.writes.iter().any(|write| write.row.id == id && write.expected.is_none())
    }

    /// Whether the lease holder of this machine is among the writers: its writes are no news.
    pub(crate) fn is_by_holder(&self, id: Id) -> bool {
        self.events.iter().any(|(of, event)| *of == id && matches!(event, Event::Moved { .. }))
    }
}

/// What a batch writes for one machine.
#[derive(Debug, Clone)]
pub(crate) struct Write {
    /// The number of lines that the machine has on disk (compare-and-set); `None` creates it.
    pub(crate) expected: Option<u64>,
    pub(crate) row: Row,
    /// The new lines, in order.
    pub(crate) lines: Vec<Line>,
    /// What must be true of its key, checked before anything is written.
    pub(crate) claim: Option<Claim>,
    /// What happens to its attempt.
    pub(crate) attempt: Option<AttemptChange>,
    /// The tool that it calls. One that was irreversible once is refused as idempotent; it is checked
    /// before anything is written.
    pub(crate) tool: Option<ToolEffect>,
}

/// A batch is durable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Applied {
    /// The sequence number of the last line of each write.
    pub(crate) last: Vec<u64>,
    /// The outcome of each event.
    pub(crate) outcomes: Vec<Outcome>,
    /// How many entries of each candidate were pruned, or why it was kept.
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
    /// The parent of a new child is in a terminal state.
    Ended(Id),
    /// The protocol of inboxes and leases forbids an event.
    Refused {
        id: Id,
        refusal: Refusal,
    },
    /// A tool, or an action, that is known to be irreversible.
    EffectLowered {
        id: Id,
        what: String,
    },
}
