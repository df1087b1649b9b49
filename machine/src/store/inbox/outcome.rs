//! Messages that bring the outcomes of calls.

use std::fmt;

use serde_json::{Value, json};

use crate::{
    actor::{Actor, Call},
    id::Id,
    store::{
        backend::Kinship,
        inbox::message::{Message, Outgoing, RESERVED, Received},
    },
};

impl Message {
    /// The message that a call that has ended sends to the machine that invoked it. It says only
    /// which execution, and for which place of which entry: the outcome is read from the execution.
    /// `None` if it is no member of an invocation.
    pub(crate) fn outcome(call: Id, kinship: &Kinship) -> Option<Outgoing> {
        let (index, entry) = (kinship.position?, kinship.since.saturating_sub(1));
        let body = json!({ "execution": call.to_string(), "entry": entry, "index": index });
        Some(Self::answered(call, OutcomePlace::Execution(call), &body))
    }

    /// What a machine has to know of a call, from an execution, or from itself if no execution has
    /// an outcome.
    pub(crate) fn answered(by: Id, place: OutcomePlace, body: &Value) -> Outgoing {
        Outgoing {
            correlation: place.to_string(),
            actor: Call::KIND.to_owned(),
            name: Some(by.to_string()),
            body: body.to_string(),
            seen: None,
        }
    }
}

impl Received {
    /// The call whose outcome it brings, if it was sent by one that has ended.
    pub(crate) fn call(&self) -> Option<Id> {
        let name = self.name.as_deref().filter(|_| self.actor == Call::KIND)?;
        name.parse().ok().filter(|call| self.correlation == outcome_of(*call))
    }
}

pub(crate) fn outcome_of(call: Id) -> String {
    OutcomePlace::Execution(call).to_string()
}

/// What the correlation id of an outcome says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutcomePlace {
    /// The outcome of this execution.
    Execution(Id),
    /// A call of this entry that was not made; without a position, the entry made none.
    Entry { entry: u64, position: Option<u32> },
    /// A call for which this entry has waited long enough. It may still have an outcome.
    Overdue { entry: u64, position: u32 },
}

impl OutcomePlace {
    pub(crate) fn of(correlation: &str) -> Option<Self> {
        let rest = correlation.strip_prefix(RESERVED)?;
        if let Some((entry, position)) =
            rest.strip_prefix("overdue:").and_then(|it| it.split_once(':'))
        {
            return Some(Self::Overdue {
                entry: entry.parse().ok()?,
                position: position.parse().ok()?,
            });
        }
        let rest = rest.strip_prefix("outcome:")?;
        if let Ok(id) = rest.parse() {
            return Some(Self::Execution(id));
        }
        let (entry, position) = match rest.split_once(':') {
            Some((entry, position)) => (entry, Some(position.parse().ok()?)),
            None => (rest, None),
        };
        Some(Self::Entry { entry: entry.parse().ok()?, position })
    }
}

impl fmt::Display for OutcomePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Execution(id) => write!(f, "{RESERVED}outcome:{id}"),
            Self::Entry { entry, position: Some(position) } => {
                write!(f, "{RESERVED}outcome:{entry}:{position}")
            }
            Self::Entry { entry, position: None } => write!(f, "{RESERVED}outcome:{entry}"),
            Self::Overdue { entry, position } => write!(f, "{RESERVED}overdue:{entry}:{position}"),
        }
    }
}
