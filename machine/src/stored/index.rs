use serde::Serialize;

use super::{Breach, Durable};
use crate::{clock::Millis, id::Id, journal::Digest};

/// The part of a machine that a store indexes, projected from its context and summary.
///
/// ```
/// use machine::{
///     journal::{Entry, Fact},
///     stored::{Breach, Context, Hold, Index},
/// };
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Seat {
///     number: String,
/// }
///
/// impl Context for Seat {
///     /// Whether the seat was booked.
///     type Summary = bool;
///
///     fn fold(&self, booked: &mut bool, entry: &Entry) -> Result<(), Breach> {
///         *booked |= matches!(&entry.fact, Fact::Moved { to, .. } if to == "booked");
///         Ok(())
///     }
///
///     /// Of all machines with the same seat, one can be booked.
///     fn index(&self, booked: &bool) -> Index {
///         let mut index = Index::default();
///         index.key = Some(self.number.clone());
///         index.hold = if *booked { Hold::Held } else { Hold::Free };
///         index
///     }
/// }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
#[allow(clippy::struct_excessive_bools, reason = "each is a separate fact")]
pub struct Index {
    /// The id of the session of the machine: at most 256 bytes that can be seen, and not `.` or
    /// `..`. It is stored in the Unicode form NFC. Fixed at creation.
    pub session: Option<String>,
    /// The idempotency key, whether held or not. Fixed at creation.
    ///
    /// The machines of a context share their keys with machines of the same name; no machine can
    /// take a key of execution contracts.
    pub key: Option<String>,
    /// The machine is not created if the action that its key protects took effect.
    pub exclusive: bool,
    /// The hold of the machine on its key.
    pub hold: Hold,
    /// The digest of the action; a key belongs to one action.
    pub action: Option<Digest>,
    /// The machine that must complete before this one may run. Fixed at creation.
    pub behind: Option<Id>,
    /// The execution and the action that a gate approves.
    pub(crate) approves: Option<Approves>,
    /// The permit without a definite answer, if any.
    pub(crate) permit: Option<Permitted>,
    /// The digest of the exact action that waits behind a gate.
    pub(crate) call: Option<Digest>,
    pub(crate) is_approved: bool,
    /// It is an execution contract, with its own keys.
    pub(crate) contract: bool,
    /// The tool that it calls, which must not become less risky, nor derive other keys.
    pub(crate) tool: Option<ToolUse>,
    /// It ended otherwise than its evidence says.
    pub(crate) contradicted: bool,
    /// A person has dealt with that.
    pub(crate) acknowledged: bool,
    /// Until when a call that a person has overridden can still be answered.
    pub(crate) answer_until: Option<Millis>,
    pub(crate) retry_of: Option<Id>,
    /// It ended without a call, so it needs neither its key nor its gate.
    pub(crate) closed: bool,
}

impl Index {
    /// That of a machine as it is stored.
    pub(crate) fn of(machine: &dyn Durable) -> Result<Self, Breach> {
        let part = &machine.journal().stored().summary.context;
        Ok(machine.__rules().__fold(part, &[])?.after)
    }

    /// It ended otherwise than its evidence says, and no person has acknowledged that.
    pub(crate) fn needs_acknowledgement(&self) -> bool {
        self.contradicted && !self.acknowledged
    }
}

/// The execution and the action that a gate approves, and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Approves {
    pub(crate) execution: Id,
    pub(crate) action: Digest,
    pub(crate) decision: Option<Decision>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolUse {
    pub(crate) name: String,
    /// The effect that the tool is registered with.
    pub(crate) irreversible: bool,
    /// Its key is made from an identity, and not from all arguments.
    pub(crate) identity: bool,
    /// The call begins now; otherwise it is planned.
    pub(crate) begins: bool,
}

/// The hold of a machine on its key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Hold {
    /// It never took the key.
    #[default]
    Free = 0,
    /// It holds the key: the protected action may be in progress.
    Held = 1,
    /// The action that the key protects took effect. This is final.
    Applied = 2,
    /// It released the key, because nothing took effect.
    Released = 3,
}

impl Hold {
    pub(crate) fn from_number(number: i64) -> Option<Self> {
        [Self::Free, Self::Held, Self::Applied, Self::Released]
            .into_iter()
            .find(|hold| *hold as i64 == number)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Permitted {
    pub(crate) worker: String,
    /// When it expires (milliseconds since the Unix epoch).
    pub(crate) expires_at: Millis,
    pub(crate) epoch: u64,
}

/// The answer to a gate. It cannot be read from data, other than as a part of its journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Decision {
    /// `true` if the action may run.
    pub approved: bool,
    /// The name of the person.
    pub by: String,
    /// When, by the clock of the store (milliseconds since the Unix epoch).
    pub at: Millis,
    /// Until when an approval can be used, by the clock of the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
}

/// What the row of a call says of it, as long as it has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallState {
    pub(crate) status: String,
    /// The name of the state of its gate, empty if that is missing; `None` if it has no gate.
    pub(crate) gate: Option<String>,
    /// Its folded progress has the verdict [`IN_DOUBT`](Self::IN_DOUBT).
    pub(crate) in_doubt: bool,
}

impl CallState {
    /// The member of its folded progress that has the verdict, and the verdict of a call whose
    /// effect is unknown.
    pub(crate) const IN_DOUBT: (&str, &str) = ("verdict", "unknown");
}
