use std::sync::Arc;

use serde_json::Value;

use super::Durable;
use crate::{definition::Definition, id::Id, journal::Entry};

/// The whole journal of a machine, with the definitions that it was written under.
///
/// `Store::history` reads one. A machine that was never stored has its history with it:
///
/// ```
/// use machine::actor::Actors;
/// use machine::contract::{Contract, Execution, ToolSpec};
/// use machine::stored::History;
///
/// let actors = Actors::issue("reader")?;
/// let tool = ToolSpec::idempotent("files", "read")?;
/// let contract = Contract::tool_call(&tool, r#"{"path": "notes.txt"}"#, &actors.reasoning_node)?;
/// let running = Execution::new(contract).start(&actors.tool_node);
/// assert_eq!(History::of(&running).unwrap().entries.len(), 2);
/// # Ok::<(), machine::contract::InvalidContract>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct History {
    /// The machine.
    pub id: Id,
    /// The entries, oldest first.
    pub entries: Vec<Entry>,
    definitions: Vec<Arc<Definition>>,
    /// The state after the newest entry, where it is known.
    pub(crate) newest: Option<Newest>,
}

#[derive(Debug, Clone)]
pub(crate) struct Newest {
    /// The definition that the data are written under.
    pub(crate) definition: Arc<Definition>,
    pub(crate) state: usize,
    pub(crate) data: Value,
    /// The number of the entry that came into it.
    pub(crate) entered: u64,
}

impl History {
    /// The history of a machine that was never stored; `None` if some of it is in a store.
    #[must_use]
    pub fn of(machine: &dyn Durable) -> Option<Self> {
        let journal = machine.journal();
        if journal.version() > 0 {
            return None;
        }
        let mut definitions = journal.older().to_vec();
        let definition = Arc::new(machine.definition().clone());
        definitions.push(Arc::clone(&definition));
        let mut history = Self::new(journal.id(), journal.uncommitted().to_vec(), definitions);
        // A state that cannot be written as JSON cannot be committed.
        let text = machine.__state_text().ok();
        let data = text.and_then(|text| serde_json::from_str(&text).ok());
        let state = machine.state_index();
        let entered = journal.summary().entered;
        history.newest = data.map(|data| Newest { definition, state, data, entered });
        Some(history)
    }

    pub(crate) fn new(id: Id, entries: Vec<Entry>, definitions: Vec<Arc<Definition>>) -> Self {
        Self { id, entries, definitions, newest: None }
    }

    /// The definition that an entry was written under.
    #[must_use]
    pub fn definition(&self, entry: &Entry) -> Option<&Definition> {
        let mut definitions = self.definitions.iter();
        definitions
            .find(|definition| definition.fingerprint == entry.definition)
            .map(|definition| &**definition)
    }
}
