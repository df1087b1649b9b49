use super::row::FoundRow;
use crate::{
    clock::Millis,
    id::Id,
    journal::{Digest, Summary},
    store::{
        inbox::{
            message::{Delivery, Queued},
            protocol::{Schedule, Wake},
        },
        write::under_way::CALLS,
    },
    stored::{CallState, Hold},
};

/// A machine that is due for a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReadyMachine {
    pub(crate) id: Id,
    pub(crate) token: u64,
    pub(crate) revision: u64,
    /// When it is due. Of a leased machine: when the lease ends, by the clock.
    pub(crate) wake: Wake,
    pub(crate) worker: Option<String>,
    /// The number of attempts that began and did not end.
    pub(crate) attempts: u32,
}

/// A machine, its work, and its queued messages.
pub(crate) type WorkRows = (FoundRow, Option<Schedule>, Vec<Queued>);

#[derive(Debug, Clone)]
pub(crate) enum Messages {
    To(Id),
    One(Id, String),
    SetAside,
    SetAsideOf(Id),
    /// Messages that have been queued since this time; at most this many, oldest first.
    Queued(Millis, usize),
    All,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Schedules {
    /// Of machines whose last attempt failed, oldest first.
    Failing,
    /// Of machines with more than [`MANY_QUEUED`](crate::store::inbox::limits::MANY_QUEUED) queued
    /// messages; at most this many, most messages first.
    Crowded(usize),
    /// Of machines that nothing can move since this time or longer; at most this many, longest
    /// first.
    Stuck(Millis, usize),
    /// Of machines with another number of queued messages than their schedule has.
    Miscounted,
}

/// A child of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Child {
    /// The machine.
    pub id: Id,
    /// The definition's name, such as `execution`.
    pub machine: String,
    /// The state's name.
    pub status: String,
    /// It is in a terminal state.
    pub has_ended: bool,
    /// Its place in the invocation of the state; none for a child machine, and for a call that was
    /// let go.
    pub position: Option<u32>,
    /// The number of entries of the parent's journal, with those of the batch that created it. A
    /// later entry into a state can take it over.
    pub(crate) since: u64,
}

/// A member of an invocation: a child with a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallRow {
    pub(crate) id: Id,
    /// As [`Child::since`].
    pub(crate) since: u64,
    pub(crate) position: u32,
    pub(crate) status: String,
    /// When it ended; none if it has not.
    pub(crate) ended_at: Option<Millis>,
    pub(crate) hold: Hold,
    /// The digest of the action of its newest attempt; none if it has not begun.
    pub(crate) action: Option<Digest>,
    /// Where its outcome is on its way to the parent; none if it has not been sent.
    pub(crate) outcome: Option<Delivery>,
}

impl CallRow {
    /// When a call came into its last state, by its summary. One that is not a summary is the
    /// earliest: loading the call says what is wrong.
    pub(crate) fn ended_at(has_ended: bool, summary: &str) -> Option<Millis> {
        let at = |summary: Summary| summary.entered_at;
        has_ended.then(|| serde_json::from_str(summary).map_or(Millis::MIN, at))
    }

    pub(crate) fn is_taken(&self) -> bool {
        self.outcome == Some(Delivery::Handled)
    }
}

/// A member of an invocation, for a list: from its row alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallLine {
    pub(crate) parent: Id,
    /// Its state, as long as it has not ended.
    pub(crate) live: Option<CallState>,
    /// Of one that has ended: whether the parent has taken its outcome.
    pub(crate) is_taken: bool,
}

/// The relation of a child to its parent. Sealed as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kinship {
    pub(crate) parent: Id,
    /// As [`Child::since`].
    pub(crate) since: u64,
    /// As [`Child::position`].
    pub(crate) position: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NewChild {
    pub(crate) child: Id,
    pub(crate) parent: Id,
    /// As [`Child::since`]; `None` is the version of the parent after the batch.
    pub(crate) since: Option<u64>,
    /// As [`Child::position`].
    pub(crate) position: Option<u32>,
}

impl Kinship {
    /// Returns whether a call that has ended is over for its parent, which came into its state with
    /// the entry of this number: an earlier entry made it, and the parent has let it go or taken
    /// its outcome. Then it can be pruned while its parent lives.
    pub(crate) fn is_over(&self, entered: u64, is_taken: bool) -> bool {
        self.since <= entered && (self.position.is_none() || is_taken)
    }
}

impl NewChild {
    /// The relation to a parent that is in this version after the batch.
    pub(crate) fn kinship(&self, version: u64) -> Kinship {
        let Self { parent, since, position, .. } = *self;
        Kinship { parent, since: since.unwrap_or(version), position }
    }
}

impl Child {
    /// Returns whether it is a machine that has not ended, and not a call.
    pub(crate) fn is_live_machine(&self) -> bool {
        !self.has_ended && self.machine != CALLS
    }
}
