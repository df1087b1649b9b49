//! The tools that an agent may use, with what the engine has to know of them beyond the library's
//! `ToolSpec`: which calls are sensitive, how to find out whether an earlier call took effect, and the
//! policy for all of them.

use std::{collections::BTreeMap, fmt, str::FromStr};

use machine::{
    actor::ReasoningNode,
    contract::{
        Action, Answer, Attempt, BoxFuture, Call, Contract, InvalidContract, NotDone, Perform,
        Registry, ToolSpec,
    },
};

use crate::plan::ProposedCall;

type Check = Box<dyn Fn(&ProposedCall) -> Result<(), String> + Send + Sync>;
type Finder = Box<dyn for<'a> Fn(&'a Attempt<Action>) -> BoxFuture<'a, Answer> + Send + Sync>;

/// The tools of a program.
pub struct Tools {
    registry: Registry,
    /// By the name of the tool.
    sensitive: BTreeMap<String, Check>,
    finders: BTreeMap<String, Finder>,
    policy: Check,
}

impl Tools {
    /// No tools, under this policy: it says why a call must not be made.
    pub fn new(
        policy: impl Fn(&ProposedCall) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        let (registry, policy) = (Registry::new(), Box::new(policy));
        Self { registry, sensitive: BTreeMap::new(), finders: BTreeMap::new(), policy }
    }

    /// Adds a tool.
    ///
    /// # Errors
    ///
    /// See [`Registry::add`].
    pub fn add<F>(&mut self, spec: ToolSpec, function: F) -> Result<(), InvalidContract>
    where
        F: for<'a> Fn(&'a Call<Action>) -> BoxFuture<'a, Answer> + Send + Sync + 'static,
    {
        self.registry.add(spec, function)
    }

    /// Has a person look at these calls of a tool before they are made: those for which it returns why.
    pub fn sensitive(
        &mut self,
        tool: &str,
        check: impl Fn(&ProposedCall) -> Result<(), String> + Send + Sync + 'static,
    ) {
        self.sensitive.insert(tool.to_owned(), Box::new(check));
    }

    /// Sets how to ask the service whether an earlier call took effect, so that a crash in the middle of one
    /// leaves nothing in doubt.
    pub fn find<F>(&mut self, tool: &str, finder: F)
    where
        F: for<'a> Fn(&'a Attempt<Action>) -> BoxFuture<'a, Answer> + Send + Sync + 'static,
    {
        self.finders.insert(tool.to_owned(), Box::new(finder));
    }

    /// The names of the tools.
    pub fn names(&self) -> Vec<String> {
        self.registry.tools().map(ToolSpec::name).collect()
    }

    /// Why a person has to see this call first.
    pub fn concern(&self, call: &ProposedCall) -> Option<String> {
        self.sensitive.get(&call.tool)?(call).err()
    }

    /// Why this call must not be made.
    pub fn violation(&self, call: &ProposedCall) -> Option<String> {
        (self.policy)(call).err()
    }

    /// The contract of a call.
    ///
    /// # Errors
    ///
    /// See [`Registry::contract`].
    pub fn contract(
        &self,
        call: &ProposedCall,
        author: &ReasoningNode,
    ) -> Result<Contract, InvalidContract> {
        let arguments = serde_json::Value::Object(call.arguments.clone()).to_string();
        self.registry.contract(&call.tool, &arguments, author)
    }
}

impl Perform<Action> for Tools {
    async fn perform(&self, call: &Call<Action>) -> Answer {
        self.registry.perform(call).await
    }

    async fn find(&self, attempt: &Attempt<Action>) -> Answer {
        let name = attempt.arguments().tool_name().unwrap_or_default();
        match self.finders.get(&name) {
            Some(finder) => finder(attempt).await,
            None => Err(NotDone::unknown(format!("`{name}` cannot be asked"))),
        }
    }
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tools").field("registry", &self.registry).finish_non_exhaustive()
    }
}

/// An error that the engine understands. A tool that answers
/// `NotDone::not_applied(ToolError::Retry(..))` is called again; any other text is for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolError {
    /// It may work the next time.
    Retry(String),
    /// It will never work.
    Fatal(String),
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Retry(reason) => write!(f, "retry: {reason}"),
            Self::Fatal(reason) => write!(f, "fatal: {reason}"),
        }
    }
}

/// An error that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unparseable(pub String);

impl FromStr for ToolError {
    type Err = Unparseable;

    fn from_str(text: &str) -> Result<Self, Unparseable> {
        match text.split_once(": ") {
            Some(("retry", reason)) => Ok(Self::Retry(reason.to_owned())),
            Some(("fatal", reason)) => Ok(Self::Fatal(reason.to_owned())),
            _ => Err(Unparseable(text.to_owned())),
        }
    }
}
