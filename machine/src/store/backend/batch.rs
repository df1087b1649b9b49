use std::{
    hash::{BuildHasher, Hasher, RandomState},
    ops::RangeInclusive,
    process,
    sync::Arc,
};

use super::{
    claim::{AttemptChange, KeyClaim},
    crew::CrewChange,
    inbox::{Kinship, NewChild},
    record::Record,
    row::Row,
};
use crate::{
    clock::{Clock, Millis},
    definition::Definition,
    id::Id,
    journal::Line,
    store::{
        error::CommitError,
        inbox::{
            limits::MAX_QUEUED,
            protocol::{Effects, Event, EventOutcome, EventRefusal, InboxState, step},
        },
        operation::Operation,
        upkeep::pruning::Candidate,
    },
    stored::{Requirement, ToolUse},
};

#[derive(Debug, Clone, Default)]
pub(crate) struct WriteBatch {
    /// A random number that is stored with every row of the batch. The same batch, sent again after
    /// an error that left its outcome open, is recognized by it and answered with success.
    pub(crate) commit_id: i64,
    /// The definitions that rows and lines refer to. Those that are missing are written.
    pub(crate) definitions: Vec<Arc<Definition>>,
    pub(crate) writes: Vec<Write>,
    /// The events of inboxes and leases. Each is decided by
    /// [`step`](crate::store::inbox::protocol::step), before anything is written.
    pub(crate) events: Vec<(Id, Event)>,
    /// Machines that become children: the child, and its parent.
    pub(crate) children: Vec<NewChild>,
    /// Children that another entry of their parent takes over, or that are no longer a part of an
    /// invocation, with what they are from then on. The parent stays. This happens before anything
    /// that the writes cause.
    pub(crate) moved_children: Vec<(Id, Kinship)>,
    /// Kinds of machines that workers drive from now on.
    pub(crate) drives: Vec<String>,
    pub(crate) records: Vec<Record>,
    /// The row of a worker, new or changed, or the rows of workers that have ended.
    pub(crate) crew: Option<CrewChange>,
    /// Tools that are irreversible from now on.
    pub(crate) tools: Vec<String>,
    /// Machines to prune. A machine that must not be pruned is kept, and the rest is written.
    pub(crate) prune: Vec<Candidate>,
    pub(crate) log: Vec<Operation>,
    /// Further conditions that must hold in the transaction.
    pub(crate) conditions: Vec<Condition>,
    pub(crate) now: Millis,
    /// The clock of the store, for what is ordered by the time of the transaction, which may come
    /// later.
    pub(crate) clock: Option<Arc<dyn Clock>>,
    /// Instead of [`MAX_QUEUED`]; only tests set it.
    pub(crate) inbox_limit: Option<u32>,
}

/// A condition on the moment of a write, which may come long after the checks before it.
#[derive(Debug, Clone)]
pub(crate) enum Condition {
    /// This machine requires something of another one, as that is after the batch.
    Required { by: Id, requirement: Requirement },
    /// No gate of an action with this key has an entry after this one, so that the newest answer is
    /// the one that was checked.
    NoNewAnswer { id: Id, key: String, after: u64 },
    /// The machine is in this version: the decision was not about an older one.
    Version { id: Id, version: u64 },
    /// After the batch, no call of an invocation of this machine is under way, and it has taken the
    /// outcome of each that took effect. With `since`, only those of that entry count, as
    /// [`Child::since`](super::inbox::Child::since). The exceptions do not count.
    NoCallUnderWay { parent: Id, since: Option<u64>, except: Vec<Id> },
    /// The state that made this call was not left: the parent has neither ended nor entered a state
    /// since. `by` is the machine whose write needs that.
    StateNotLeft { by: Id, call: Id, parent: Id },
    /// After the batch, this retry is the only open attempt, and the newest one.
    OnlyAttempt { id: Id, attempts: OtherAttempts },
}

/// The attempts at an action that exclude another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OtherAttempts {
    /// The attempt that is tried again. It is not among them.
    pub(crate) of: Id,
    pub(crate) key: String,
    pub(crate) machine: String,
    /// The status of those that took effect.
    pub(crate) done: String,
    /// The status of those that exclude another one if they are newer than `of`.
    pub(crate) failed: String,
}

impl OtherAttempts {
    /// Checks whether a machine is one of them.
    pub(crate) fn has(&self, row: &Row) -> bool {
        let of_action = row.machine == self.machine && row.key.as_ref() == Some(&self.key);
        let is_newer = row.status == self.failed && row.id > self.of;
        of_action && row.id != self.of && (!row.ended || row.status == self.done || is_newer)
    }
}

impl WriteBatch {
    pub(crate) fn new(commit_id: i64, now: Millis) -> Self {
        Self { commit_id, now, ..Self::default() }
    }

    /// A random commit id. A thread asks the system for randomness once, and not for each commit.
    pub(crate) fn new_commit_id() -> i64 {
        let mut hasher = RandomState::new().build_hasher();
        // After a fork, both processes have the same keys.
        hasher.write_u32(process::id());
        hasher.finish().cast_signed()
    }

    /// With the time of its transaction for what is compared with deadlines: messages, and ends of
    /// children.
    pub(crate) fn at_transaction(self, clock: &Arc<dyn Clock>) -> Self {
        Self { clock: Some(Arc::clone(clock)), ..self }
    }

    /// The time of its transaction; the one at which it was made if it has no clock.
    pub(crate) fn time(&self) -> Millis {
        self.clock.as_ref().map_or(self.now, |clock| clock.now())
    }

    pub(crate) fn decide(
        &self,
        state: &InboxState,
        id: Id,
        event: &Event,
    ) -> Result<Effects, Rejected> {
        let effects = step(state, event);
        let effects =
            if self.log.is_empty() { effects } else { effects.and_then(Effects::of_person) };
        let queued = state.work.as_ref().map_or(0, |work| work.queued);
        if let (Event::Send { message, .. }, Ok(Effects { outcome: EventOutcome::Done, .. })) =
            (event, &effects)
            && queued >= self.inbox_limit.unwrap_or(MAX_QUEUED)
            && !message.is_of_library()
        {
            return Err(Rejected::InboxFull { id, queued });
        }
        effects.map_err(|refusal| match (event, refusal) {
            (Event::Send { message, .. }, EventRefusal::OtherMessage) => {
                Rejected::OtherMessage { id, correlation: message.correlation.clone() }
            }
            _ => Rejected::Refused { id, refusal },
        })
    }

    /// Checks whether it only writes machines, without further conditions.
    pub(crate) fn is_plain(&self) -> bool {
        self.has_no_work()
            && self.conditions.is_empty()
            && self.prune.is_empty()
            && self.log.is_empty()
            && self.records.is_empty()
    }

    /// Checks whether it leaves inboxes, leases and tools alone, apart from what its writes cause.
    pub(crate) fn has_no_work(&self) -> bool {
        self.events.is_empty()
            && self.children.is_empty()
            && self.moved_children.is_empty()
            && self.drives.is_empty()
            && self.crew.is_none()
            && self.tools.is_empty()
    }

    pub(crate) fn creates(&self, id: Id) -> bool {
        self.writes.iter().any(|write| write.row.id == id && write.expected.is_none())
    }

    /// Checks whether the lease holder of this machine is among the writers: its own writes do not
    /// wake it.
    pub(crate) fn is_by_holder(&self, id: Id) -> bool {
        self.events.iter().any(|(of, event)| *of == id && matches!(event, Event::Moved(_)))
    }

    /// Checks whether it moves this machine out of its state.
    pub(crate) fn leaves(&self, id: Id) -> bool {
        self.writes.iter().any(|write| write.row.id == id && write.left.is_some())
    }

    /// Checks whether it lets go of this call: its parent leaves the state that made it, also with
    /// `detach`.
    pub(crate) fn lets_go(&self, call: Id) -> bool {
        self.moved_children.iter().any(|(child, to)| *child == call && to.position.is_none())
    }
}

/// The part of a batch that writes one machine.
#[derive(Debug, Clone)]
pub(crate) struct Write {
    /// The number of lines that the machine has on disk (compare-and-set); `None` creates it.
    pub(crate) expected: Option<u64>,
    pub(crate) row: Row,
    pub(crate) lines: Vec<Line>,
    /// The precondition on its key, checked before anything is written.
    pub(crate) claim: Option<KeyClaim>,
    pub(crate) attempt: Option<AttemptChange>,
    /// The tool that it calls, which is compared with what is known of it before anything is
    /// written. See [`ToolRecord`](crate::store::write::tool::ToolRecord).
    pub(crate) tool: Option<ToolUse>,
    /// The version with which the visit began that ends with it, and not by a transition with
    /// `detach`. Children of the visit came then or later: see
    /// [`Child::since`](super::inbox::Child::since). Its child machines are sent a `cancel`.
    pub(crate) left: Option<u64>,
}

impl Write {
    /// The versions of the machine in the visit that it leaves.
    pub(crate) fn visit(&self) -> Option<RangeInclusive<u64>> {
        let visit = self.left?..=self.expected?;
        (!visit.is_empty()).then_some(visit)
    }
}

/// A batch is durable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AppliedBatch {
    /// The sequence number of the last line of each write.
    pub(crate) last: Vec<u64>,
    pub(crate) outcomes: Vec<EventOutcome>,
    /// The machines to which its writes sent messages, with what became of each that they did not
    /// have before.
    pub(crate) sent: Vec<(Id, EventOutcome)>,
    /// The number of pruned entries of each candidate; `None` if it is still needed.
    pub(crate) pruned: Vec<Option<u64>>,
}

/// A precondition does not hold. Nothing was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rejected {
    /// As the caller gets it.
    Commit(CommitError),
    /// The parent has left the state that made a call.
    StateLeft { id: Id, parent: Id },
    /// The requirements of this machine on another one held until then.
    Late { by: Id, machine: Id, at: Millis },
    /// The parent of a new child is in a terminal state.
    Ended(Id),
    /// The protocol of inboxes and leases forbids an event.
    Refused { id: Id, refusal: EventRefusal },
    /// Another message to this machine has the correlation id of one that is sent.
    OtherMessage { id: Id, correlation: String },
    /// The inbox of this machine has as many queued messages as it may.
    InboxFull { id: Id, queued: u32 },
    /// A tool, or an action, that is known to be irreversible.
    EffectLowered { id: Id, what: String },
    /// A tool whose keys are known to be made with an identity, or known to be made without.
    IdentityChanged { id: Id, tool: String, identity: bool },
}

impl From<CommitError> for Rejected {
    fn from(error: CommitError) -> Self {
        Self::Commit(error)
    }
}
