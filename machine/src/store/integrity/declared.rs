//! The machines and tools of a program, and whether what is stored fits them.

use std::collections::BTreeSet;

use crate::{
    contract::{AnyExecution, Callable, Contract, InvalidContract, Tool},
    id::Id,
    store::{
        backend::Found,
        error::Unavailable,
        handle::Store,
        integrity::check::{
            Blocked, Check, CheckedMachine, CheckedTool, Named, Read, Refusal, unavailable,
        },
        read::query::Query,
    },
    stored::Restore,
};

/// The machines and tools that a program declares.
#[derive(Debug, Clone, Default)]
pub(crate) struct Declared {
    pub(crate) machines: Vec<Named>,
    pub(crate) tools: Vec<NamedTool>,
}

/// A tool whose arguments the program can read.
#[derive(Debug, Clone)]
pub(crate) struct NamedTool {
    name: String,
    read: fn(&Contract) -> Result<(), InvalidContract>,
}

impl Declared {
    pub(crate) fn machine<M: Restore>(&mut self) {
        self.machines.retain(|known| known.definition.name != M::DEFINITION.name);
        self.machines.push(Named::of::<M>());
    }

    pub(crate) fn tool<T: Tool>(&mut self) {
        let name = format!("{}.{}", T::SERVICE, T::METHOD);
        self.tools.retain(|known| known.name != name);
        self.tools.push(NamedTool { name, read: |contract| T::__read(contract).map(drop) });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.machines.is_empty() && self.tools.is_empty()
    }
}

/// The number of the oldest, and of the newest machines of each definition that a worker reads before it starts.
const READ_AT_START: usize = 500;

impl Store {
    /// Finds stored data that does not fit the declarations. `read` is the reader: opening a file compares definitions
    /// and the arguments of open calls. A worker also reads machines, except those that have ended and those that
    /// newer programs have written.
    pub(crate) async fn misfits(
        &self,
        declared: &Declared,
        read: Read,
    ) -> Result<Check, Unavailable> {
        let mut check = Check::default();
        for named in &declared.machines {
            self.incompatible_with(named.definition, read, &mut check).await?;
            if let (Read::Driven, Some(checked)) = (read, check.machines.last_mut()) {
                self.read_live(*named, checked).await?;
            }
        }
        self.check_arguments(declared, &mut check).await?;
        Ok(check)
    }

    /// Reads machines that have not ended: of each definition, the oldest and the newest. Definitions say nothing of
    /// what is in a context, nor of what is in the types of fields. What was changed by hand is no matter of the
    /// program, and is set aside one by one.
    async fn read_live(
        &self,
        named: Named,
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
                let Found::Row(row, _) = &found else { return None };
                let (id, state) = (row.id, row.status.clone());
                let refusal = named.read(&store, found, &known).err();
                let refusal = refusal.filter(|refusal| refusal.is_misfit);
                Some((id, refusal.map(|Refusal { reason, .. }| Blocked { id, state, reason })))
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
    pub(crate) async fn check_arguments(
        &self,
        declared: &Declared,
        check: &mut Check,
    ) -> Result<(), Unavailable> {
        let checked = |tool: &NamedTool| CheckedTool {
            tool: tool.name.clone(),
            checked: 0,
            blocked: Vec::new(),
        };
        let mut tools: Vec<_> = declared.tools.iter().map(|tool| (tool, checked(tool))).collect();
        if tools.is_empty() {
            return Ok(());
        }
        let mut query = Query::new().live().limit(1000);
        loop {
            let page = self.load_all::<AnyExecution>(&query).await.map_err(unavailable)?;
            // One that cannot be read has no arguments to look at.
            for execution in page.items.into_iter().flatten() {
                let contract = execution.context();
                let name = contract.action().tool_name();
                let tool = tools.iter_mut().find(|(tool, _)| Some(&tool.name) == name.as_ref());
                let Some((tool, checked)) = tool else { continue };
                checked.checked += 1;
                let reason = match (tool.read)(contract) {
                    // A program that makes the same keys can run it.
                    Ok(()) | Err(InvalidContract::OtherIdentity { .. }) => continue,
                    Err(InvalidContract::Arguments { tool, reason }) => format!(
                        "its stored arguments do not fit `{tool}`: {reason}; write `#[serde(default)]` on an \
                         argument that was added and `#[serde(alias = \"..\")]` on one that was renamed, or run the \
                         program that planned the call until it has ended"
                    ),
                    Err(error) => error.to_string(),
                };
                let state = execution.status().definition().name.to_string();
                checked.blocked.push(Blocked { id: execution.id(), state, reason });
            }
            match page.next {
                Some(next) => query = query.after(next),
                None => break,
            }
        }
        check.tools.extend(tools.into_iter().map(|(_, checked)| checked));
        Ok(())
    }

    /// Reads every machine, those of the kinds that the program has declared as the program reads them.
    pub(crate) async fn check_all(
        &self,
        progress: impl FnMut(u64),
    ) -> Result<Check, crate::store::LoadError> {
        let declared = &self.inner.declared;
        let mut check = self.check_readable(progress).await?;
        let own = |name: &str| declared.machines.iter().any(|it| it.definition.name == name);
        check.machines.retain(|checked| !own(&checked.machine));
        let mut by_program = self.rehearse(declared).await?;
        by_program.machines.append(&mut check.machines);
        Ok(by_program)
    }
}
