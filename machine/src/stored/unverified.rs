use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Durable, Restore, Unwritten, VerifyError, verify};
use crate::{
    definition::{Definition, Fingerprint},
    id::Id,
    journal::{Digest, DigestKey, Entry},
};

/// A machine with its whole history, as data from outside, such as JSON, before verification.
///
/// [`verify`](Self::verify) is the only way to turn it into a machine.
///
/// ```
/// use machine::actor::Actors;
/// use machine::contract::{AnyExecution, Contract, Execution, ToolSpec};
/// use machine::stored::Unverified;
///
/// let actors = Actors::issue("reader")?;
/// let tool = ToolSpec::idempotent("files", "read")?;
/// let contract = Contract::tool_call(&tool, r#"{"path": "notes.txt"}"#, &actors.reasoning_node)?;
/// let running = AnyExecution::from(Execution::new(contract).start(&actors.tool_node));
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
    pub record: Record,
    /// The journal that must lead to it, from its creation on.
    pub journal: Vec<Entry>,
    /// The definitions that the entries were written under, other than that of the writing program.
    /// A fingerprint that is missing here must be that of the reader's own definition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub definitions: Vec<Arc<Definition>>,
}

/// The data of a machine, without its journal.
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
    /// The fencing epoch.
    pub epoch: u64,
    /// The digest of all fields above, and of the journal.
    pub seal: Digest,
}

impl Record {
    /// The seal of this record, given the digest of the newest journal entry.
    pub(crate) fn expected_seal(&self, head: &Digest) -> Digest {
        Digest::of(&[
            self.id.to_string().as_bytes(),
            self.machine.as_bytes(),
            &self.fingerprint.0.to_le_bytes(),
            self.status.as_bytes(),
            self.state.as_bytes(),
            self.context.as_bytes(),
            &self.epoch.to_le_bytes(),
            head.bytes(),
        ])
    }
}

impl Unverified {
    /// The stored form of a machine that is in no store yet.
    ///
    /// # Errors
    ///
    /// If the state, a payload or the context cannot be written as JSON, or if the machine is in a
    /// store: then its history is there, and `Store::export` reads it.
    pub fn of(machine: &dyn Durable) -> Result<Self, serde_json::Error> {
        let custom = |reason: String| <serde_json::Error as serde::ser::Error>::custom(reason);
        let journal = machine.journal();
        if let Some(reason) = journal.unwritable() {
            return Err(custom(reason.to_owned()));
        }
        if journal.version() > 0 {
            return Err(custom(format!(
                "{} of its journal entries are in a store; use `Store::export` for the whole history",
                journal.version()
            )));
        }
        let definition = machine.definition();
        let mut entries = journal.uncommitted().to_vec();
        let lines = journal.lines(definition, &DigestKey::default()).map_err(custom)?;
        for (entry, line) in entries.iter_mut().zip(&lines) {
            entry.digest = Some(line.digest);
        }
        let head = lines.last().map_or(Digest::ZERO, |line| line.digest);
        let mut record = Record {
            id: journal.id(),
            machine: definition.name.to_string(),
            fingerprint: definition.fingerprint,
            status: definition.states[machine.state_index()].name.to_string(),
            state: machine.__state_text().map_err(Unwritten::into_json)?,
            context: machine.__context_text().map_err(Unwritten::into_json)?.to_string(),
            epoch: journal.epoch(),
            seal: Digest::ZERO,
        };
        record.seal = record.expected_seal(&head);
        Ok(Self { record, journal: entries, definitions: journal.older().to_vec() })
    }

    /// Replays the journal, each entry against the definition that it was written under. If the
    /// result matches the record, makes the machine. It is in no store: `create` stores it, with
    /// its history.
    ///
    /// Data written under an older definition can be read if the two are
    /// [compatible](Definition::compare).
    ///
    /// # Errors
    ///
    /// [`VerifyError`] with the first problem.
    pub fn verify<M: Restore>(self) -> Result<M, VerifyError> {
        let id = self.record.id;
        let (verified, head) = verify::replay(M::DEFINITION, &self)?;
        if self.record.seal != self.record.expected_seal(&head) {
            let reason = "its record was changed: the seal does not match".to_owned();
            return Err(VerifyError::History { id, reason });
        }
        let machine = M::__restore(verified).map_err(|unread| unread.of(id))?;
        verify::check_id(id, &machine)?;
        machine
            .__rules()
            .__fold(&serde_json::Value::Null, machine.journal().uncommitted())
            .map_err(|breach| VerifyError::Rules { id, breach })?;
        Ok(machine)
    }
}
