use std::sync::Arc;

use crate::{
    clock::Millis,
    definition::Definition,
    id::Id,
    journal::{Digest, Fact, Fixed, StoredState},
    store::{
        backend::{AttemptChange, KeyClaim, Row, Wants, Write},
        error::CommitError,
        handle::Store,
        write::{attempt::CONTRACTS, seal::seal},
    },
    stored::{Breach, Durable, Hold, Index, StoredPart, ToolUse, Unwritten, check_session, fold},
};

/// One machine of a batch, ready to be written.
pub(crate) struct Prepared {
    pub(crate) write: Write,
    /// The definitions that its row and lines refer to.
    pub(crate) definitions: Vec<Arc<Definition>>,
    /// The data on disk after the batch.
    pub(crate) stored: StoredState,
    /// The index of the machine after the batch, for the machines that wait for it.
    pub(crate) index: Index,
    /// The gate that must be approved, if the machine leaves its initial state.
    pub(crate) gate: Option<Id>,
}

impl Store {
    /// Prepares a machine for a batch: folds its new entries, checks its rules, and makes the texts
    /// that are stored, each once. `Ok(None)` if there is nothing to write.
    pub(crate) fn prepare(
        &self,
        machine: &mut dyn Durable,
        creates: bool,
        (commit_id, now): (i64, Millis),
    ) -> Result<Option<Prepared>, CommitError> {
        let journal = machine.__journal_mut(crate::journal::Pass::new());
        let id = journal.id();
        journal.set_times(now);
        let journal = machine.journal();
        let before = journal.stored();
        if before.version > 0 && before.store != Some(self.inner.identity.store) {
            return Err(CommitError::OtherStore { id });
        }
        match (creates, before.version) {
            (true, 1..) => return Err(CommitError::AlreadyStored { id }),
            (false, _) if journal.uncommitted().is_empty() => return Ok(None),
            (false, 0) => return Err(CommitError::NeverStored { id }),
            _ => {}
        }
        let unwritable = |reason: String| CommitError::Unwritable { id, reason };
        if let Some(reason) = journal.unwritable() {
            return Err(unwritable(reason.to_owned()));
        }
        let folded = fold(machine.__rules(), &before.summary, journal.uncommitted(), true);
        let (summary, folded) = folded.map_err(|breach| CommitError::Refused { id, breach })?;
        let definition = machine.definition();
        let lines = journal.lines(definition, &self.inner.key).map_err(unwritable)?;
        let head = lines.last().map_or(before.head, |line| line.digest);
        let mut definitions = vec![self.inner.definitions.own(definition)];
        definitions.extend_from_slice(journal.older());

        let status = definition.states[machine.state_index()].name.to_string();
        let state = machine.__state_text().map_err(|error| unwritten(id, &status, error))?;
        let context = machine.__context_text().map_err(|error| unwritten(id, &status, error))?;
        let text =
            serde_json::to_string(&summary).map_err(|error| unwritable(error.to_string()))?;
        let fixed = fixed(id, before, &folded.after)?;
        let mut row = Row {
            id,
            machine: definition.name.to_string(),
            definition: definition.fingerprint,
            status,
            version: before.version + lines.len() as u64,
            epoch: journal.epoch(),
            created_at: summary.created_at,
            updated_at: summary.updated_at,
            ended: definition.states[machine.state_index()].terminal,
            contradicted: folded.after.needs_acknowledgement(),
            due_at: summary.due_at(),
            session: fixed.session.clone(),
            key: fixed.key.clone(),
            behind: fixed.behind,
            gate: None,
            commit_id,
            seal: Digest::ZERO,
            state,
            summary: text,
            context: None,
        };
        row.seal = seal(&self.inner.key, self.inner.identity.store, &row, &context, &head);
        row.context = (!before.context).then_some(context);
        let stored = StoredState {
            version: row.version,
            epoch: row.epoch,
            head,
            summary,
            store: Some(self.inner.identity.store),
            context: true,
            commit_id: None,
            fixed: Some(fixed),
            gate: before.gate.clone(),
        };
        let begins = journal.uncommitted().iter().any(|entry| {
            let initial = &definition.states[definition.initial].name;
            matches!(&entry.fact, Fact::Moved { from, .. } if from == initial)
        });
        // Also one that is called again.
        let of = |index: &Index| {
            // A later limit does not make a different permit.
            index.permit.as_ref().map(|permit| (permit.worker.clone(), permit.epoch))
        };
        let permits = folded.after.permit.is_some() && of(&folded.before) != of(&folded.after);
        let (claim, attempt) = match &row.key {
            Some(key) => {
                let how = (creates, (begins || permits) && !folded.after.closed);
                key_changes(key, &definition.name, how, &folded.before, &folded.after)
            }
            None => (None, None),
        };
        let gate = row.behind.filter(|_| begins && !folded.after.closed);
        let expected = (!creates).then_some(before.version);
        let tool = folded
            .after
            .tool
            .clone()
            .filter(|_| (creates || begins || permits) && !folded.after.closed)
            .map(|tool| ToolUse { begins: begins || permits, ..tool });
        let write = Write { expected, row, lines, claim, attempt, tool, left: None };
        Ok(Some(Prepared { write, definitions, stored, index: folded.after, gate }))
    }
}

/// A part of a machine in this state that cannot be stored, as an error.
fn unwritten(id: Id, state: &str, error: Unwritten) -> CommitError {
    let Unwritten { part, field, source } = error;
    let Some(source) = source else {
        return CommitError::Altered { id, state: state.to_owned(), field };
    };
    let part = match part {
        StoredPart::State => format!("the state `{state}`"),
        StoredPart::Context => part.to_string(),
    };
    let field = field.map_or_else(String::new, |field| format!("`{field}` of "));
    CommitError::Unwritable { id, reason: format!("{field}{part}: {source}") }
}

/// The identity of a machine. It is fixed at creation, even if a newer program would project
/// something else.
fn fixed(id: Id, before: &StoredState, after: &Index) -> Result<Arc<Fixed>, CommitError> {
    let Some(fixed) = &before.fixed else {
        let Index { session, key, behind, .. } = after.clone();
        let checked = session.as_deref().map_or(Ok(()), check_session);
        checked.map_err(|breach| CommitError::Refused { id, breach })?;
        return Ok(Arc::new(Fixed { session, key, behind }));
    };
    if fixed.key.is_none() && after.key.is_some() && after.hold != Hold::Free {
        let breach =
            Breach::new("it holds a key but was created without one; a key is fixed at creation");
        return Err(CommitError::Refused { id, breach });
    }
    Ok(Arc::clone(fixed))
}

/// The claim of a batch on the key of a machine, and the change to the machine's attempt.
fn key_changes(
    key: &str,
    machine: &str,
    (creates, begins): (bool, bool),
    before: &Index,
    after: &Index,
) -> (Option<KeyClaim>, Option<AttemptChange>) {
    let space = if after.contract { CONTRACTS.to_owned() } else { format!("machine:{machine}") };
    // A machine that is created may bring a history with it.
    let held = if creates { Hold::Free } else { before.hold };
    let opens = matches!(
        (held, after.hold),
        (Hold::Free | Hold::Released, Hold::Held) | (Hold::Free, Hold::Applied | Hold::Released)
    );
    // Evidence is never refused, not even if another machine has taken the key in the meantime.
    let takes = opens && after.hold != Hold::Released;
    let wants = if takes {
        Some(Wants::Free)
    } else if creates && after.exclusive {
        Some(Wants::NotApplied)
    } else if begins && after.contract && !after.exclusive {
        Some(Wants::NeverUsed)
    } else {
        None
    };
    let claim = wants.map(|wants| KeyClaim {
        key: key.to_owned(),
        space: space.clone(),
        action: after.action,
        wants,
    });
    let changed = held != after.hold || before.permit != after.permit;
    let attempt = (opens || changed && after.hold != Hold::Free).then(|| AttemptChange {
        opens,
        key: key.to_owned(),
        space,
        action: after.action,
        hold: after.hold,
        worker: after.permit.as_ref().map(|permit| permit.worker.clone()),
        expires_at: after.permit.as_ref().map(|permit| permit.expires_at),
    });
    (claim, attempt)
}
