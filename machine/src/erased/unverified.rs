use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Durable, Restore, VerifyError, verify};
use crate::{
    definition::{Definition, Fingerprint},
    id::Id,
    journal::{Digest, Entry},
};

/// The stored form of a machine, from a row or JSON, before verification.
///
/// [`verify`](Self::verify) is the only way to turn it into a machine.
///
/// ```
/// use machine::actor::{ReasoningNode, ToolNode};
/// use machine::contract::{AnyExecution, Contract, Execution, Tool};
/// use machine::erased::Unverified;
///
/// let tool = Tool::idempotent("files", "read")?;
/// let contract = Contract::tool_call(&tool, r#"{"path": "notes.txt"}"#, &ReasoningNode)?;
/// let running = AnyExecution::from(Execution::new(contract).start(&ToolNode));
///
/// let json = serde_json::to_string(&running)?;
/// let claim: Unverified = serde_json::from_str(&json)?;
/// assert!(matches!(claim.verify::<AnyExecution>()?, AnyExecution::Running(_)));
///
/// let forged = json.replace(r#""status":"running""#, r#""status":"completed""#);
/// let claim: Unverified = serde_json::from_str(&forged)?;
/// assert!(claim.verify::<AnyExecution>().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Unverified {
    /// The claimed state of the machine.
    #[serde(flatten)]
    pub record: Record,
    /// The journal that must lead to it.
    pub journal: Vec<Entry>,
    /// The definitions that the entries were written under, other than that of the writing program.
    /// A fingerprint that is missing here must be that of the reader's own definition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub definitions: Vec<Arc<Definition>>,
}

/// The stored data of a machine, without its journal.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    /// The machine's identity.
    pub id: Id,
    /// The definition's name, such as `execution`.
    pub machine: String,
    /// The definition that state and context were written under.
    pub fingerprint: Fingerprint,
    /// The state's name.
    pub status: String,
    /// The state's data, as JSON text.
    pub state: String,
    /// The context, as JSON text.
    pub context: String,
    /// The number of journal entries on disk.
    pub version: u64,
    /// The fencing epoch.
    pub epoch: u64,
    /// The digest of all fields above except the version, and of the journal.
    pub seal: Digest,
}

impl Record {
    /// The record of a machine.
    pub(crate) fn of(machine: &dyn Durable) -> Result<Self, serde_json::Error> {
        let journal = machine.journal();
        if let Some(reason) = journal.unwritable() {
            return Err(serde::ser::Error::custom(reason));
        }
        let (state, context) = machine.__encode()?;
        let definition = machine.definition();
        let mut record = Self {
            id: journal.id(),
            machine: definition.name.to_string(),
            fingerprint: definition.fingerprint,
            status: definition.states[machine.state_index()].name.to_string(),
            state,
            context,
            version: journal.version(),
            epoch: journal.epoch(),
            seal: Digest::ZERO,
        };
        record.seal = record.expected_seal(&journal.head());
        Ok(record)
    }

    /// The seal of this record, given the digest of the newest journal entry.
    pub(crate) fn expected_seal(&self, head: &Digest) -> Digest {
        Digest::of(&[
            self.id.to_string().as_bytes(),
            self.machine.as_bytes(),
            &self.fingerprint.as_u64().to_le_bytes(),
            self.status.as_bytes(),
            self.state.as_bytes(),
            self.context.as_bytes(),
            &self.epoch.to_le_bytes(),
            head.bytes(),
        ])
    }
}

impl Unverified {
    /// The stored form of a machine.
    ///
    /// # Errors
    ///
    /// If the state, a payload or the context cannot be written as JSON.
    pub fn of(machine: &dyn Durable) -> Result<Self, serde_json::Error> {
        let journal = machine.journal();
        let definitions = journal.older().to_vec();
        Ok(Self { record: Record::of(machine)?, journal: journal.entries().to_vec(), definitions })
    }

    /// Replays the journal, each entry against the definition that it was written under. If the
    /// result matches the record, makes the machine.
    ///
    /// Data written under an older definition can be read if the two are
    /// [compatible](Definition::compare).
    ///
    /// # Errors
    ///
    /// [`VerifyError`] with the first problem.
    pub fn verify<M: Restore>(self) -> Result<M, VerifyError> {
        let id = self.record.id;
        let verified = verify::replay(M::DEFINITION, self)?;
        let machine = M::__restore(verified).map_err(|source| VerifyError::Data { id, source })?;
        machine
            .rules()
            .admit(machine.journal().entries())
            .map_err(|breach| VerifyError::Rules { id, breach })?;
        Ok(machine)
    }
}
