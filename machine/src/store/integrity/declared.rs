//! The machines and tools of a program, and whether the stored data fits them.

use std::{collections::BTreeSet, fmt, sync::Arc};

use crate::{
    definition::Definition,
    id::Id,
    store::{
        backend::FoundRow,
        error::{LoadError, Unavailable},
        handle::Store,
        integrity::check::{
            Blocked, Check, CheckedMachine, CheckedTool, DeclaredKind, ReadAs, ReadRefusal,
            unavailable,
        },
        read::query::Query,
    },
    stored::{Durable, Restore},
};

#[derive(Debug, Clone, Default)]
pub(crate) struct Declared {
    pub(crate) machines: Vec<DeclaredKind>,
    pub(crate) tools: Vec<NamedTool>,
    /// The tools that are known at run time only.
    pub(crate) others: Option<NamedTool>,
}

/// Makes a machine of a row, along the stored definitions.
type RestoreAny = fn(&Store, FoundRow, &[Arc<Definition>]) -> Result<Box<dyn Durable>, LoadError>;

/// Reads the arguments of a call. `None` if it is one of another tool.
type ReadCall = Arc<dyn Fn(&dyn Durable) -> Option<Result<(), String>> + Send + Sync>;

/// A tool whose arguments the program can read: they are in the contexts of machines of one kind.
#[derive(Clone)]
pub(crate) struct NamedTool {
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) restore: RestoreAny,
    pub(crate) read: ReadCall,
}

impl fmt::Debug for NamedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NamedTool").field(&self.name).finish()
    }
}

impl Declared {
    pub(crate) fn machine<M: Restore>(&mut self) {
        self.machines.retain(|known| known.definition.name != M::DEFINITION.name);
        self.machines.push(DeclaredKind::of::<M>());
    }

    pub(crate) fn tool(&mut self, tool: NamedTool) {
        self.tools.retain(|known| known.name != tool.name);
        self.tools.push(tool);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.machines.is_empty() && self.tools.is_empty()
    }
}

/// The number of the oldest, and of the newest machines of each definition that a worker reads
/// before it starts.
const READ_AT_START: usize = 500;

impl Store {
    /// Finds stored data that does not fit the declarations. `read` is the reader: opening a file
    /// compares definitions and the arguments of open calls. A worker also reads machines, except
    /// those that have ended and those that newer programs have written.
    pub(crate) async fn misfits(
        &self,
        declared: &Declared,
        read: ReadAs,
    ) -> Result<Check, Unavailable> {
        let mut check = Check::default();
        for named in &declared.machines {
            self.incompatible_with(named.definition, read, &mut check).await?;
            if let (ReadAs::Driven, Some(checked)) = (read, check.machines.last_mut()) {
                self.read_live(*named, checked).await?;
            }
        }
        self.check_arguments(declared, &mut check).await?;
        Ok(check)
    }

    /// Reads machines that have not ended: of each definition, the oldest and the newest.
    /// Definitions say nothing of what is in a context, nor of what is in the types of fields. Data
    /// changed by hand does not concern the program, and is set aside one by one.
    async fn read_live(
        &self,
        named: DeclaredKind,
        checked: &mut CheckedMachine,
    ) -> Result<(), Unavailable> {
        let own = named.definition;
        let known = self.inner.backend.definitions().await?.intact;
        let newest = known.iter().position(|it| it.fingerprint == own.fingerprint);
        let mut rows = Vec::new();
        for written in &known[..newest.map_or(known.len(), |newest| newest + 1)] {
            if written.name != own.name || written.version > own.version {
                continue;
            }
            let query = Query::new().machine(own.name.as_ref()).definition(written.fingerprint);
            let query = query.live().limit(READ_AT_START);
            let (oldest, next) = self.rows(&query, true).await.map_err(unavailable)?;
            let last = oldest.last().map(|(number, _)| *number);
            rows.extend(oldest);
            if next.is_some() {
                let query = query.newest_first();
                let (newest, _) = self.rows(&query, true).await.map_err(unavailable)?;
                rows.extend(newest.into_iter().filter(|(number, _)| Some(*number) > last));
            }
        }
        let store = self.clone();
        let read = self.run(move || {
            let read = rows.into_iter().filter_map(|(_, found)| {
                let FoundRow::Row(row, _) = &found else { return None };
                let (id, state) = (row.id, row.status.clone());
                let refusal = named.read(&store, found, &known).err();
                let refusal = refusal.filter(|refusal| refusal.is_misfit);
                Some((id, refusal.map(|ReadRefusal { reason, .. }| Blocked { id, state, reason })))
            });
            read.collect::<Vec<_>>()
        });
        let known: BTreeSet<Id> = checked.blocked.iter().map(|blocked| blocked.id).collect();
        for (id, blocked) in read.await? {
            if !known.contains(&id) {
                checked.checked += 1;
                checked.blocked.extend(blocked);
            }
        }
        Ok(())
    }

    /// Reads the arguments of the open calls of the declared tools.
    pub(super) async fn check_arguments(
        &self,
        declared: &Declared,
        check: &mut Check,
    ) -> Result<(), Unavailable> {
        let checked = |tool: &NamedTool| CheckedTool {
            tool: tool.name.clone(),
            checked: 0,
            blocked: Vec::new(),
        };
        // A tool with a type comes first.
        let declared: Vec<_> = declared.tools.iter().chain(&declared.others).collect();
        let Some(first) = declared.first() else { return Ok(()) };
        let restore = first.restore;
        let known = Arc::new(self.inner.backend.definitions().await?.intact);
        let mut of_tools: Vec<_> = declared.iter().copied().map(checked).collect();
        let mut next = Some(Query::new().machine(first.kind).live().limit(READ_AT_START));
        while let Some(rows) = self.next_rows(&mut next, true).await.map_err(unavailable)? {
            let (store, known) = (self.clone(), Arc::clone(&known));
            let tools: Vec<_> = declared.iter().map(|tool| Arc::clone(&tool.read)).collect();
            let read = self.run(move || {
                let mut read = Vec::new();
                for (_, found) in rows {
                    // One that cannot be read has no arguments to look at.
                    let Ok(machine) = restore(&store, found, &known) else { continue };
                    let (id, definition) = (machine.journal().id(), machine.definition());
                    let of_tool =
                        |(tool, read_by): (usize, &ReadCall)| Some((tool, read_by(&*machine)?));
                    let Some((tool, result)) = tools.iter().enumerate().find_map(of_tool) else {
                        continue;
                    };
                    let state = definition.states[machine.state_index()].name.to_string();
                    read.push((tool, result.map_err(|reason| Blocked { id, state, reason })));
                }
                read
            });
            for (tool, read) in read.await? {
                of_tools[tool].checked += 1;
                of_tools[tool].blocked.extend(read.err());
            }
        }
        check.tools.extend(of_tools);
        Ok(())
    }
}
