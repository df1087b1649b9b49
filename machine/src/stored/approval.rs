use serde::Serialize;

use crate::clock::Millis;

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
