use super::{Breach, StoredPart};
use crate::{definition::Fingerprint, id::Id};

/// Why a stored machine cannot be read. Nothing was changed.
#[derive(thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "most names of fields say enough")]
pub enum VerifyError {
    /// The machine with this id is of another kind.
    #[error("{id} is of the kind `{found}`, not `{expected}`; load it as `{found}`")]
    OtherMachine { id: Id, expected: &'static str, found: String },
    /// It was written under a definition that is neither the program's own nor stored.
    #[error(
        "{id} was written under an unknown definition of `{machine}` (fingerprint {found}); run \
         the program that wrote it, or add the definition to its record"
    )]
    UnknownDefinition { id: Id, machine: &'static str, found: Fingerprint },
    /// The definition has changed since, and this machine's data are incompatible with it.
    #[error(
        "{id} is in state `{state}` of an older definition of `{machine}` and cannot be read: {}",
        reasons.join("; ")
    )]
    Incompatible { id: Id, machine: &'static str, state: String, reasons: Vec<String> },
    /// The record does not match the journal, or the journal is invalid.
    #[error("{id} failed verification: {reason}; restore it from a backup")]
    History { id: Id, reason: String },
    /// The state or the context does not match its type.
    #[error(
        "{part} of {id} does not match its type in this program: {source}; write `#[serde(alias = \"..\")]` on a \
         field that was renamed, `#[serde(default)]` on one that was added, and for any other change a new \
         version of the machine with an upgrade function; or run the program that wrote it"
    )]
    Data { id: Id, part: StoredPart, source: serde_json::Error },
    /// The history breaks a rule of the context.
    #[error("{id} failed verification: {breach}")]
    Rules { id: Id, breach: Breach },
}
