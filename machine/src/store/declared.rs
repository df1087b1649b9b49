//! The machines and tools of a program, and whether what is stored fits them.

use super::{
    Blocked, Check, CheckedTool, Query, Store, Unavailable,
    check::{Named, Read, unavailable},
};
use crate::{
    contract::{AnyExecution, Callable, Contract, InvalidContract, Tool, execution},
    stored::Restore,
};

/// The machines and tools that a program declares.
#[derive(Debug, Clone, Default)]
pub(crate) struct Declared {
    pub(super) machines: Vec<Named>,
    pub(super) tools: Vec<NamedTool>,
}

/// A tool whose arguments the program can read.
#[derive(Debug, Clone)]
pub(super) struct NamedTool {
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

    #[cfg(feature = "cli")]
    pub(crate) fn is_empty(&self) -> bool {
        self.machines.is_empty() && self.tools.is_empty()
    }
}

/// The states of executions whose calls are still to be made, or asked about.
const OPEN: [&str; 3] = ["pending", "running", "waiting"];

impl Store {
    /// What is stored and does not fit what is declared, as far as definitions and arguments say. `read` is who reads:
    /// a worker leaves alone what has ended, and what newer programs have written.
    pub(crate) async fn misfits(
        &self,
        declared: &Declared,
        read: Read,
    ) -> Result<Check, Unavailable> {
        let mut check = Check::default();
        for Named { definition: own, .. } in &declared.machines {
            self.incompatible_with(own, read, &mut check).await?;
        }
        self.check_arguments(declared, &mut check).await?;
        Ok(check)
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
        let mut tools: Vec<_> = declared.tools.iter().map(|tool| (tool, checked(tool))).collect();
        if tools.is_empty() {
            return Ok(());
        }
        for state in OPEN {
            let kind = execution::DEFINITION.name.as_ref();
            let mut query = Query::new().machine(kind).status(state).limit(1000);
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
                        Err(error) => error.to_string(),
                    };
                    let (id, state) = (execution.id(), state.to_owned());
                    checked.blocked.push(Blocked { id, state, reason });
                }
                match page.next {
                    Some(next) => query = query.after(next),
                    None => break,
                }
            }
        }
        check.tools.extend(tools.into_iter().map(|(_, checked)| checked));
        Ok(())
    }

    /// Reads every machine, those of the kinds that the program has declared as the program reads them.
    #[cfg(feature = "cli")]
    pub(crate) async fn check_all(
        &self,
        progress: impl FnMut(u64),
    ) -> Result<Check, super::LoadError> {
        let declared = &self.inner.declared;
        let mut check = self.check_readable(progress).await?;
        let own = |name: &str| declared.machines.iter().any(|it| it.definition.name == name);
        check.machines.retain(|checked| !own(&checked.machine));
        let mut by_program = self.rehearse(declared).await?;
        by_program.machines.append(&mut check.machines);
        Ok(by_program)
    }
}
