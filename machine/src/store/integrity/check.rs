use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use serde::Serialize;
use serde_json::Value;

use crate::{
    definition::{Comparison, Definition},
    id::Id,
    journal::{Entry, Summary},
    line::OneLine,
    store::{
        backend::{DefinitionRows, FoundRow},
        error::{LoadError, Unavailable},
        handle::Store,
        integrity::declared::Declared,
        read::query::Query,
    },
    stored::{Index, OutcomeReader, Restore, VerifyError, fold},
};

/// The result of a check: whether a program can read the machines of a file, and how their
/// definitions have changed.
///
/// Its `Display` is a report for people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Check {
    /// The problems of stored definitions; machines that were written under these definitions
    /// cannot be read.
    pub broken_definitions: Vec<String>,
    /// One for each kind of machine declared with
    /// [`OpenOptions::machine`](crate::store::OpenOptions::machine).
    pub machines: Vec<CheckedMachine>,
    /// One for each tool declared with [`OpenOptions::tool`](crate::store::OpenOptions::tool).
    pub tools: Vec<CheckedTool>,
    /// The tools whose keys in this program differ from the stored ones, and how to fix that. Only
    /// the check of a worker compares keys.
    pub other_keys: Vec<String>,
}

/// The result of a [`Check`] for one kind of machine.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckedMachine {
    /// The definition's name, such as `execution`.
    pub machine: String,
    /// The number of machines that were checked.
    pub checked: usize,
    /// The differences between the program's definition and each stored one.
    pub changes: Vec<Comparison>,
    /// The machines that the program cannot read.
    pub blocked: Vec<Blocked>,
    /// The number of rows with an invalid id: they were changed by hand.
    pub broken_rows: usize,
}

/// The result of a [`Check`] for one tool: the arguments of a call are stored data, too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CheckedTool {
    /// Its name, such as `email.send`; `other tools` for those that a worker knows at run time
    /// only.
    pub tool: String,
    /// The number of calls that have not ended and were checked.
    pub checked: usize,
    /// The executions that the tool would not run, or whose arguments it cannot read.
    pub blocked: Vec<Blocked>,
}

/// A machine that a program cannot read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Blocked {
    /// The machine.
    pub id: Id,
    /// The state in its row.
    pub state: String,
    /// The reason, and how to fix it.
    pub reason: String,
}

impl Check {
    /// Returns `true` if the program can read every machine, and makes the same keys.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.broken_definitions.is_empty()
            && self.other_keys.is_empty()
            && self
                .machines
                .iter()
                .all(|machine| machine.blocked.is_empty() && machine.broken_rows == 0)
            && self.tools.iter().all(|tool| tool.blocked.is_empty())
    }
}

/// The maximum number of machines of each kind that a report names.
const NAMED: usize = 20;

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for reason in &self.broken_definitions {
            writeln!(f, "{}: restore it from a backup", OneLine(reason))?;
        }
        for CheckedMachine { machine, checked, changes, blocked, broken_rows } in &self.machines {
            // Text that was edited in the file cannot start a new line.
            let machine = OneLine(machine);
            match blocked.len() + broken_rows {
                0 => writeln!(f, "{machine}: {checked} checked, all can be read")?,
                count => writeln!(f, "{machine}: {checked} checked, {count} cannot be read")?,
            }
            if *broken_rows > 0 {
                writeln!(f, "  {broken_rows} rows have an invalid id: restore a backup")?;
            }
            for change in changes.iter().flat_map(|comparison| &comparison.differences) {
                let mark = if change.compatible { "ok" } else { "incompatible" };
                writeln!(f, "  {mark}: {}", OneLine(&change.to_string()))?;
            }
            list(f, blocked)?;
        }
        for CheckedTool { tool, checked, blocked } in &self.tools {
            let tool = OneLine(tool);
            match blocked.len() {
                0 => writeln!(f, "calls of {tool}: {checked} checked, all can be read")?,
                count => writeln!(f, "calls of {tool}: {checked} checked, {count} cannot be read")?,
            }
            list(f, blocked)?;
        }
        for reason in &self.other_keys {
            writeln!(f, "{}", OneLine(reason))?;
        }
        Ok(())
    }
}

fn list(f: &mut fmt::Formatter<'_>, blocked: &[Blocked]) -> fmt::Result {
    for Blocked { id, state, reason } in blocked.iter().take(NAMED) {
        writeln!(f, "  {id} in `{}`: {}", OneLine(state), OneLine(reason))?;
    }
    match blocked.len().checked_sub(NAMED) {
        None | Some(0) => Ok(()),
        Some(more) => writeln!(f, "  and {more} more"),
    }
}

/// A kind of machine that the program declares when it opens a store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeclaredKind {
    pub(crate) definition: &'static Definition,
    rehearse: fn(&Store, FoundRow, StoredDefinitions<'_>) -> Result<(), LoadError>,
    /// Adds entries to a summary by the rules of a machine.
    pub(crate) fold: FoldEntries,
    /// Derives the index of a machine from its context, if it can be read.
    pub(crate) index: fn(&Store, FoundRow, StoredDefinitions<'_>) -> Option<Index>,
    /// The outcomes of the calls of a state.
    pub(crate) outcomes: fn(usize) -> Option<OutcomeReader>,
    /// Returns whether a machine of this kind, as the call of another one, has this outcome. `None`
    /// if it cannot be read.
    pub(crate) has_outcome: HasOutcome,
}

/// The reader of the machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadAs {
    /// Any part of a program.
    All,
    /// A worker, which ignores ended machines and those of newer programs.
    Driven,
}

type StoredDefinitions<'a> = &'a [Arc<Definition>];

/// Takes a row, the definitions, a summary, and the next entries. After the last ones, the rules
/// must hold.
type FoldEntries = fn(
    &Store,
    FoundRow,
    StoredDefinitions<'_>,
    &Summary,
    (&[Entry], bool),
) -> Result<Summary, LoadError>;

/// Takes a row, the definitions, and an outcome with its reader.
type HasOutcome = fn(
    &Store,
    FoundRow,
    StoredDefinitions<'_>,
    OutcomeReader,
    Result<&Value, &Value>,
) -> Option<bool>;

pub(crate) struct ReadRefusal {
    /// The program and the data do not fit: the data are as they were written.
    pub(crate) is_misfit: bool,
    pub(crate) reason: String,
}

impl DeclaredKind {
    /// Reads a machine as `load` does. Upgrades are the user's code; one that panics concerns its
    /// machine only.
    pub(crate) fn read(
        &self,
        store: &Store,
        found: FoundRow,
        known: StoredDefinitions<'_>,
    ) -> Result<(), ReadRefusal> {
        match catch_unwind(AssertUnwindSafe(|| (self.rehearse)(store, found, known))) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => {
                let misfits = |error: &VerifyError| {
                    matches!(error, VerifyError::Data { .. } | VerifyError::Incompatible { .. })
                };
                let is_misfit = matches!(&error, LoadError::Unreadable(error) if misfits(error));
                Err(ReadRefusal { is_misfit, reason: error.to_string() })
            }
            Err(_) => {
                let reason =
                    "reading it panicked; check its `Deserialize` and its upgrade functions";
                Err(ReadRefusal { is_misfit: true, reason: reason.to_owned() })
            }
        }
    }

    pub(crate) fn of<M: Restore>() -> Self {
        Self {
            definition: M::DEFINITION,
            rehearse: |store, found, known| store.restore::<M>(found, known).map(drop),
            fold: |store, found, known, past, (entries, is_last)| {
                let machine = store.restore::<M>(found, known)?;
                let (id, rules) = (machine.journal().id(), machine.__rules());
                let folded = fold(rules, past, entries, is_last);
                let summary = folded.map(|(summary, _)| summary);
                summary.map_err(|breach| VerifyError::Rules { id, breach }.into())
            },
            index: |store, found, known| {
                let machine = store.restore::<M>(found, known).ok()?;
                Index::of(&machine).ok()
            },
            outcomes: M::__outcomes,
            has_outcome: |store, found, known, reader, outcome| {
                let call = store.restore::<M>(found, known).ok()?;
                (reader.is)(&call, outcome).ok()
            },
        }
    }
}

impl Store {
    /// Reads every machine of some kinds as `load` does.
    pub(crate) async fn rehearse(&self, declared: &Declared) -> Result<Check, Unavailable> {
        let mut check = Check::default();
        for named in &declared.machines {
            let own = named.definition;
            let (mut checked, known) = self.compare(own, &mut check).await?;
            let mut next = Some(Query::new().machine(own.name.as_ref()));
            while let Some(rows) = self.next_rows(&mut next, true).await.map_err(unavailable)? {
                for (_, found) in rows {
                    checked.checked += 1;
                    let FoundRow::Row(row, _) = &found else {
                        checked.broken_rows += 1;
                        continue;
                    };
                    let (id, state) = (row.id, row.status.clone());
                    if let Err(ReadRefusal { reason, .. }) = named.read(self, found, &known) {
                        checked.blocked.push(Blocked { id, state, reason });
                    }
                }
            }
            check.machines.push(checked);
        }
        self.check_arguments(declared, &mut check).await?;
        Ok(check)
    }

    /// Compares the stored definitions of a machine with the program's, and returns all of them.
    async fn compare(
        &self,
        own: &Definition,
        check: &mut Check,
    ) -> Result<(CheckedMachine, Vec<Arc<Definition>>), Unavailable> {
        let mut checked = CheckedMachine::none(&own.name);
        let DefinitionRows { intact: known, broken } = self.inner.backend.definitions().await?;
        check.broken_definitions = broken;
        let older = known.iter().filter(|older| older.name == own.name);
        let changes = older.map(|older| older.compare(own));
        checked.changes.extend(changes.filter(|comparison| !comparison.differences.is_empty()));
        Ok((checked, known))
    }

    /// Finds the machines that a program with this definition cannot read. Looks at machines only
    /// where a definition does not fit, so that a compatible store opens immediately.
    pub(super) async fn incompatible_with(
        &self,
        own: &Definition,
        read: ReadAs,
        check: &mut Check,
    ) -> Result<(), Unavailable> {
        let (mut checked, known) = self.compare(own, check).await?;
        // Definitions are stored in the order in which programs began to use them.
        let newer = known.iter().position(|it| it.fingerprint == own.fingerprint);
        let newer = newer.filter(|_| read == ReadAs::Driven).unwrap_or(known.len());
        for older in known[..newer].iter().filter(|older| older.name == own.name) {
            if read == ReadAs::Driven && older.version > own.version {
                continue;
            }
            let comparison = older.compare(own);
            let reason = |state: &str| {
                let reasons: Vec<String> =
                    comparison.blocking(state).map(ToString::to_string).collect();
                reasons.join("; ")
            };
            let states = older.states.iter();
            for state in states.filter(|state| read == ReadAs::All || !state.terminal) {
                let reason = reason(&state.name);
                if reason.is_empty() {
                    continue;
                }
                let mut query = Query::new()
                    .machine(own.name.as_ref())
                    .status(state.name.as_ref())
                    .definition(older.fingerprint);
                if read == ReadAs::Driven {
                    query = query.live();
                }
                let mut next = Some(query);
                while let Some(rows) =
                    self.next_rows(&mut next, false).await.map_err(unavailable)?
                {
                    for (_, found) in rows {
                        checked.checked += 1;
                        match found {
                            FoundRow::Row(row, _) => checked.blocked.push(Blocked {
                                id: row.id,
                                state: row.status,
                                reason: reason.clone(),
                            }),
                            _ => checked.broken_rows += 1,
                        }
                    }
                }
            }
        }
        check.machines.push(checked);
        Ok(())
    }

    /// Which machines a program with these definitions could not read.
    pub(crate) async fn check_against(&self, newer: &[Definition]) -> Result<Check, Unavailable> {
        let mut check = Check::default();
        for definition in newer {
            self.incompatible_with(definition, ReadAs::All, &mut check).await?;
            let Some(checked) = check.machines.last_mut() else { continue };
            // The others need no individual check: their definitions fit.
            checked.checked = 0;
            let mut next = Some(Query::new().machine(definition.name.as_ref()).limit(10_000));
            while let Some(rows) = self.next_rows(&mut next, false).await.map_err(unavailable)? {
                checked.checked += rows.len();
            }
        }
        Ok(check)
    }
}

impl CheckedMachine {
    pub(crate) fn none(machine: &str) -> Self {
        Self {
            machine: machine.to_owned(),
            checked: 0,
            changes: Vec::new(),
            blocked: Vec::new(),
            broken_rows: 0,
        }
    }
}

/// Reading rows for a check fails only if the storage does.
pub(crate) fn unavailable(error: LoadError) -> Unavailable {
    match error {
        LoadError::Unavailable(error) => error,
        other => Unavailable::other(other),
    }
}
