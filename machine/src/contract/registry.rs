use std::{collections::BTreeMap, fmt};

use jsonschema::Validator;
use serde_json::Value;

use super::{
    Action, Attempt, BoxFuture, Call, Contract, InvalidContract, NoReceipt, Perform, ToolAnswer,
    ToolCall, ToolSpec, contract::object, wording::visible,
};

/// The tools that a program knows at run time, such as those of an MCP server: a name, an effect, a
/// JSON Schema of the arguments, and a function.
///
/// ```
/// use machine::actor::Actors;
/// use machine::contract::{Applied, Registry, ToolSpec};
/// use serde_json::json;
///
/// let mut registry = Registry::new();
/// registry.add(
///     ToolSpec::irreversible("email", "send")?.schema(json!({
///         "type": "object",
///         "properties": { "to": { "type": "string", "format": "email" } },
///         "required": ["to"],
///         "additionalProperties": false,
///     })),
///     |_call| Box::pin(async { Ok(Applied::new("250 queued")) }),
/// )?;
///
/// let actors = Actors::issue("assistant")?;
/// let refused = registry.call("email.send", r#"{"cc": "eve"}"#).unwrap_err();
/// assert!(refused.to_string().contains("the arguments do not match `email.send`"));
/// let call = registry.call("email.send", r#"{"to": "bob@example.com"}"#)?;
/// let contract = call.contract(&actors.reasoning_node)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Registry {
    tools: BTreeMap<String, Registered>,
}

/// The longest reason of a refusal, in characters.
const LONGEST: usize = 500;

struct Registered {
    spec: ToolSpec,
    schema: Option<Validator>,
    function: Function,
    finder: Option<Finder>,
}

type Function =
    Box<dyn for<'a> Fn(&'a Call<Action>) -> BoxFuture<'a, ToolAnswer<Action>> + Send + Sync>;

type Finder =
    Box<dyn for<'a> Fn(&'a Attempt<Action>) -> BoxFuture<'a, ToolAnswer<Action>> + Send + Sync>;

impl Registry {
    /// A registry without tools.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool, or replaces the tool of the same name. A replaced tool gets the higher effect
    /// and the secrets of both, and keeps its [finder](Self::finder) and, unless there is a new
    /// one, its schema: adding a tool again never lowers the risk.
    ///
    /// # Errors
    ///
    /// [`InvalidContract::InvalidSchema`] if its schema is not a valid JSON Schema.
    pub fn add<F>(&mut self, spec: ToolSpec, function: F) -> Result<(), InvalidContract>
    where
        F: for<'a> Fn(&'a Call<Action>) -> BoxFuture<'a, ToolAnswer<Action>>
            + Send
            + Sync
            + 'static,
    {
        let name = spec.name();
        let known = self.tools.get(&name);
        let mut spec = spec;
        spec.secrets.extend(known.iter().flat_map(|known| known.spec.secrets.clone()));
        if spec.schema.is_none() {
            spec.schema = known.and_then(|known| known.spec.schema.clone());
        }
        let options = jsonschema::options().should_validate_formats(true);
        let schema = spec.schema.as_ref().map(|schema| options.build(schema)).transpose();
        let schema = schema.map_err(|error| InvalidContract::InvalidSchema {
            tool: name.clone(),
            reason: error.to_string(),
        })?;
        let spec = known.map_or(spec.clone(), |known| spec.raise(known.spec.effect()));
        let finder = self.tools.remove(&name).and_then(|known| known.finder);
        self.tools.insert(name, Registered { spec, schema, function: Box::new(function), finder });
        Ok(())
    }

    /// Sets how to ask the service of a tool whether an earlier call took effect, so that a crash
    /// in the middle of a call leaves nothing in doubt. See [`Perform::find`].
    ///
    /// # Errors
    ///
    /// [`InvalidContract::UnknownTool`] if the tool was not added.
    pub fn finder<F>(&mut self, tool: &str, finder: F) -> Result<(), InvalidContract>
    where
        F: for<'a> Fn(&'a Attempt<Action>) -> BoxFuture<'a, ToolAnswer<Action>>
            + Send
            + Sync
            + 'static,
    {
        let Some(registered) = self.tools.get_mut(tool) else {
            return Err(InvalidContract::UnknownTool(tool.to_owned()));
        };
        registered.finder = Some(Box::new(finder));
        Ok(())
    }

    /// The tools, by name.
    pub fn tools(&self) -> impl Iterator<Item = &ToolSpec> {
        self.tools.values().map(|registered| &registered.spec)
    }

    /// A call with its arguments as JSON, as written by a model. Turn it into a
    /// [contract](ToolCall::contract), or let a state make it by `#[invoke]`.
    ///
    /// # Errors
    ///
    /// [`InvalidContract::UnknownTool`], and [`InvalidContract::Arguments`] if the arguments do not
    /// fit the tool's schema.
    pub fn call(&self, tool: &str, arguments: &str) -> Result<ToolCall, InvalidContract> {
        let registered = self.get(tool)?;
        let call = ToolCall::new(&registered.spec, arguments)?;
        registered.check(&Value::Object(object(arguments)?))?;
        Ok(call)
    }

    /// The tool of an action that fits it.
    fn fitting(&self, action: &Action, irreversible: bool) -> Result<&Registered, InvalidContract> {
        let Some(call) = action.tool() else {
            return Err(InvalidContract::UnknownTool(action.action_type().to_string()));
        };
        let registered = self.get(&call.name())?;
        if registered.spec.effect().is_irreversible() && !irreversible {
            return Err(InvalidContract::EffectLowered { tool: call.name() });
        }
        registered.check(&Value::Object(call.arguments.clone()))?;
        Ok(registered)
    }

    fn get(&self, tool: &str) -> Result<&Registered, InvalidContract> {
        self.tools.get(tool).ok_or_else(|| InvalidContract::UnknownTool(tool.to_owned()))
    }
}

impl Registered {
    fn check(&self, arguments: &Value) -> Result<(), InvalidContract> {
        let Some(schema) = &self.schema else { return Ok(()) };
        schema.validate(arguments).map_err(|error| {
            let (place, tool) = (error.instance_path().to_string(), self.spec.name());
            // Without the value, which may be huge or hostile.
            let said = match place.as_str() {
                "" => error.masked().to_string(),
                place => format!("{} (at {place})", error.masked()),
            };
            let reason = visible(&said.chars().take(LONGEST).collect::<String>());
            InvalidContract::Arguments { tool, reason }
        })
    }
}

/// Calls the function of the tool that the action names. A call whose arguments do not match the
/// schema, or whose effect is lower than that of the tool, does not begin.
impl Perform<Action> for Registry {
    fn check_call(&self, contract: &Contract) -> Result<(), InvalidContract> {
        match self.fitting(contract.action(), contract.is_irreversible()) {
            // `perform` answers that nothing was done.
            Ok(_) | Err(InvalidContract::UnknownTool(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn perform(&self, call: &Call<Action>) -> ToolAnswer<Action> {
        let action = &call.arguments;
        if action.tool().is_none() {
            let action_type = action.action_type();
            return Err(NoReceipt::not_applied(format!("`{action_type}` is not a tool call")));
        }
        // A program that begins a call itself has not checked it.
        let fitting = self.fitting(action, call.irreversible);
        let registered = fitting.map_err(NoReceipt::not_applied)?;
        (registered.function)(call).await
    }

    async fn find(&self, attempt: &Attempt<Action>) -> ToolAnswer<Action> {
        let name = attempt.arguments.tool_name().unwrap_or_default();
        match self.tools.get(&name).and_then(|registered| registered.finder.as_ref()) {
            Some(finder) => finder(attempt).await,
            None => Err(NoReceipt::unknown(format!("`{name}` cannot be asked"))),
        }
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.tools.keys()).finish()
    }
}
