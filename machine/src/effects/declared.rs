//! The tools that a program declares when it opens a store.

use crate::{
    contract::{
        AnyExecution, Callable, Contract, InvalidContract, Tool,
        execution::{self, Status},
    },
    store::{integrity::declared::NamedTool, options::OpenOptions},
    stored::Durable,
};

impl OpenOptions {
    /// Declares a tool that the program has. The arguments of its calls are stored data, too:
    /// [`sqlite`](Self::sqlite) refuses a file with calls that have not ended and whose arguments the type of the
    /// tool cannot read, or with which it would run other arguments, and lists them.
    ///
    /// ```
    /// use machine::contract::{Idempotent, Tool};
    /// use machine::store::OpenOptions;
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct ReadFile {
    ///     path: String,
    /// }
    ///
    /// impl Tool for ReadFile {
    ///     const SERVICE: &'static str = "files";
    ///     const METHOD: &'static str = "read";
    ///     type Effect = Idempotent;
    ///     type Receipt = String;
    ///     type Refusal = String;
    /// }
    ///
    /// let options = OpenOptions::new().tool::<ReadFile>();
    /// # drop(options);
    /// ```
    #[must_use]
    pub fn tool<T: Tool>(mut self) -> Self {
        self.declared.tool(named_tool::<T>());
        self
    }
}

/// A tool, and how the arguments of its calls are read.
pub(crate) fn named_tool<T: Tool>() -> NamedTool {
    NamedTool {
        name: name::<T>(),
        kind: &execution::DEFINITION.name,
        restore: |store, found, known| {
            let execution = store.restore::<AnyExecution>(found, known)?;
            Ok(Box::new(execution))
        },
        read: |execution| {
            let contract: &Contract = execution.__rules().__any().downcast_ref()?;
            let runs = runs(execution, contract);
            (contract.action().tool_name()? == name::<T>()).then(|| read::<T>(contract, runs))
        },
    }
}

fn name<T: Tool>() -> String {
    format!("{}.{}", T::SERVICE, T::METHOD)
}

/// Returns whether a program may run a call that has not ended: it has not begun, or is repeated if its worker ends. About
/// another one, a service is only asked.
fn runs(execution: &dyn Durable, contract: &Contract) -> bool {
    let state = execution.state_index();
    state == Status::Pending as usize
        || state == Status::Running as usize && !contract.is_irreversible()
}

fn read<T: Tool>(contract: &Contract, runs: bool) -> Result<(), String> {
    let read = if runs {
        contract.arguments_to_run::<T>()
    } else {
        T::__read(contract.action(), contract.effect())
    };
    match read {
        // A program that makes the same keys can run it.
        Ok(_) | Err(InvalidContract::OtherIdentity { .. }) => Ok(()),
        Err(InvalidContract::Arguments { tool, reason }) => Err(format!(
            "its stored arguments do not fit `{tool}`: {reason}; write `#[serde(default)]` on an argument that was \
             added and `#[serde(rename = \"..\")]` with its old name on one that was renamed, or run the older program \
             until the call has ended"
        )),
        Err(error) => Err(error.to_string()),
    }
}
