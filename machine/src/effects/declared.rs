//! The tools that a program declares when it opens a store.

use std::sync::Arc;

use crate::{
    contract::{
        AnyExecution, Callable, Contract, InvalidContract, Tool,
        execution::{self, Status},
        tool_name,
    },
    store::{integrity::declared::NamedTool, options::OpenOptions},
    stored::Durable,
};

impl OpenOptions {
    /// Declares a tool of the program. The arguments of its calls are stored data, too:
    /// [`sqlite`](Self::sqlite) refuses a file with unfinished calls whose arguments the type of
    /// the tool cannot read, or would read as other arguments, and lists these calls.
    ///
    /// ```
    /// use machine::contract::Tool;
    /// use machine::store::OpenOptions;
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize, Deserialize, Tool)]
    /// #[tool(files.read, idempotent)]
    /// struct ReadFile {
    ///     path: String,
    /// }
    ///
    /// let options = OpenOptions::new().tool::<ReadFile>();
    /// # drop(options);
    /// ```
    pub fn tool<T: Tool>(mut self) -> Self {
        self.declared.tool(named_tool::<T>());
        self
    }
}

/// A tool, and how the arguments of its calls are read.
pub(crate) fn named_tool<T: Tool>() -> NamedTool {
    checked_tool(tool_name::<T>(), |contract, runs| {
        (contract.action().tool_name()? == tool_name::<T>()).then(|| read::<T>(contract, runs))
    })
}

/// The tools that are known at run time only, whose service makes this check of a call before it
/// runs.
#[cfg(feature = "worker")]
pub(crate) fn run_time_tools(
    check: impl Fn(&Contract) -> Result<(), InvalidContract> + Send + Sync + 'static,
) -> NamedTool {
    checked_tool("other tools".to_owned(), move |contract, runs| {
        contract.action().tool_name()?;
        let checked = if runs { check(contract) } else { Ok(()) };
        Some(checked.map_err(|error| match error {
            InvalidContract::Arguments { tool, reason } => format!(
                "its stored arguments do not match the schema of `{tool}`: {reason}; register the tool with the \
                 schema that it had, or cancel the call"
            ),
            error => error.to_string(),
        }))
    })
}

/// A tool, and how its calls are checked, which may be about to run. `None` for the calls of
/// another one.
fn checked_tool(
    name: String,
    check: impl Fn(&Contract, bool) -> Option<Result<(), String>> + Send + Sync + 'static,
) -> NamedTool {
    NamedTool {
        name,
        kind: &execution::DEFINITION.name,
        restore: |store, found, known| {
            let execution = store.restore::<AnyExecution>(found, known)?;
            Ok(Box::new(execution))
        },
        read: Arc::new(move |execution: &dyn Durable| {
            let contract: &Contract = execution.__rules().__any().downcast_ref()?;
            check(contract, runs(execution, contract))
        }),
    }
}

/// Returns whether a program may run a call that has not ended: it has not begun, or is repeated if
/// its worker ends. About another one, a service is only asked.
fn runs(execution: &dyn Durable, contract: &Contract) -> bool {
    let state = execution.state_index();
    state == Status::Pending as usize
        || state == Status::Running as usize && !contract.is_irreversible()
}

fn read<T: Tool>(contract: &Contract, runs: bool) -> Result<(), String> {
    let (action, effect) = (contract.action(), contract.effect());
    let arguments = T::__read(action, effect).map_err(|error| match error {
        InvalidContract::Arguments { tool, reason } => format!(
            "its stored arguments do not fit `{tool}`: {reason}; write `#[serde(default)]` on an argument that was \
             added and `#[serde(rename = \"..\")]` with its old name on one that was renamed, or run the older program \
             until the call has ended"
        ),
        error => error.to_string(),
    })?;
    let checked = if runs { arguments.__check(action, effect) } else { Ok(()) };
    match checked {
        // A program that makes the same keys can run it.
        Ok(()) | Err(InvalidContract::OtherIdentity { .. }) => Ok(()),
        // They can be read, so the error has the repair.
        Err(error) => Err(error.to_string()),
    }
}
