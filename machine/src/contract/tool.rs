use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::{
    Action, Contract, Effect, EffectType, InvalidContract, NeedsNoPermit, TypedTool,
    action::check_names,
    identity::{identity, same},
};
use crate::language::fill;

/// A tool, as a type: its fields are the arguments of a call.
///
/// A [`Contract`] is made from a value of it, and what runs later is that value, parsed from the
/// stored action that was approved. How it is done is up to a service that implements
/// [`Perform`](super::Perform).
///
/// A field that is not written is neither stored nor approved: one with `#[serde(skip)]` or
/// `#[serde(skip_serializing)]` has its default when the call runs, whatever that is then, and no question
/// shows it. The library cannot see such a field. So give a tool none whose default decides what the call
/// does, or can change.
///
/// ```
/// use machine::actor::Actors;
/// use machine::contract::{Contract, Irreversible, Tool};
/// use serde::{Deserialize, Serialize};
///
/// /// Sends a mail.
/// #[derive(Debug, Serialize, Deserialize)]
/// #[serde(deny_unknown_fields)]
/// struct SendMail {
///     to: String,
///     subject: String,
/// }
///
/// impl Tool for SendMail {
///     const SERVICE: &'static str = "email";
///     const METHOD: &'static str = "send";
///     type Effect = Irreversible;
///     type Receipt = String;
///
///     fn subject(&self, _language: &str) -> Option<String> {
///         Some(self.to.clone())
///     }
/// }
///
/// let actors = Actors::issue("assistant")?;
/// let mail = SendMail { to: "bob@example.com".to_owned(), subject: "Meeting".to_owned() };
/// let contract = Contract::of(&mail, &actors.reasoning_node)?;
/// assert_eq!(contract.summary(), "email.send → bob@example.com");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "this type says neither service nor effect",
    note = "implement `machine::contract::Tool` for it; a tool that is known at run time only is a \
            `ToolSpec`"
)]
pub trait Tool: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The name of the service, such as `email`.
    const SERVICE: &'static str;
    /// The name of the method, such as `send`.
    const METHOD: &'static str;
    /// The effect of a call on the outside world. A store remembers it, and refuses a program in which
    /// the tool has become less risky.
    type Effect: EffectType;
    /// The receipt of a successful call.
    type Receipt: Serialize + DeserializeOwned + Send + 'static;
    /// The time to wait for an answer, by default 30 s; `None` means without a limit. After that the outcome
    /// of an irreversible call is unknown.
    const TIMEOUT: Option<Duration> = Some(Duration::from_secs(30));
    /// The time after the end of its worker in which a call can still take effect, because what was sent is on its
    /// way; by default 60 s. "It did not take effect" counts only after that time.
    const SETTLING_TIME: Duration = Duration::from_mins(1);
    /// The languages that [`subject`](Self::subject) and [`question`](Self::question) know, besides the default, such
    /// as `zh`.
    const LANGUAGES: &'static [&'static str] = &[];

    /// The subject of the call, for people: the summary is `service.method → subject`, which lists, views and
    /// prompts show. The question to an approver does not use it: see [`question`](Self::question). `language` is one of
    /// [`LANGUAGES`](Self::LANGUAGES), or empty for the default.
    fn subject(&self, _language: &str) -> Option<String> {
        None
    }

    /// The question to an approver in the words of the tool, such as `Send the mail to bob@example.com?`. Below it the
    /// question has the tool, its arguments and its digest in any case. By default the question is `Allow
    /// service.method?`, in the languages of the library. `language` is one of [`LANGUAGES`](Self::LANGUAGES), or empty
    /// for the default.
    fn question(&self, _language: &str) -> Option<String> {
        None
    }

    /// The arguments that make the idempotency key; by default all. Leave out what differs between
    /// two attempts at the same thing, such as a timestamp.
    ///
    /// The same arguments must give the same identity in every program that uses the tool on one
    /// file, and at any time: otherwise one action has two keys, and can run twice. It is a function
    /// of the fields and of nothing else, and returns a value for every call or for none. A store
    /// compares it with the newest 100 attempts of the tool, and refuses a program that derives
    /// another key. An identity that has to change takes a new [`METHOD`](Self::METHOD), whose keys
    /// are new.
    fn identity(&self) -> Option<Value> {
        None
    }
}

/// A type that a call can be made from: a [`Tool`], or an [`Action`] of a tool that is known at run time
/// only. There is no other, so that the arguments of a call are those that were approved.
pub trait Callable: sealed::Sealed + Send + Sync + Sized + 'static {
    /// The receipt of a successful call.
    type Receipt: Serialize + DeserializeOwned + Send + 'static;

    /// Reads the arguments of a contract.
    #[doc(hidden)]
    fn __read(contract: &Contract) -> Result<Self, InvalidContract>;

    /// The tool, if its type says which one. The type of an [`Action`] does not.
    #[doc(hidden)]
    #[must_use]
    fn __tool() -> Option<TypedTool> {
        None
    }

    /// The service of the tool may report the outcome of a call later.
    #[doc(hidden)]
    #[must_use]
    fn __answers_later() -> bool {
        false
    }

    /// The action of an earlier contract, as this program makes it from the same arguments. `None` if
    /// it does not make that of this tool, or cannot read its arguments. By default from all arguments.
    #[doc(hidden)]
    fn __remade(contract: &Contract) -> Result<Option<Action>, InvalidContract> {
        contract.action().with_identity(None).map(Some)
    }
}

mod sealed {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is neither a `Tool` nor an `Action`",
        label = "nothing else can be called",
        note = "implement `machine::contract::Tool` for it"
    )]
    pub trait Sealed {}
    impl<T: super::Tool> Sealed for T {}
    impl Sealed for super::Action {}
}

impl<T: Tool> Callable for T {
    type Receipt = T::Receipt;

    fn __read(contract: &Contract) -> Result<Self, InvalidContract> {
        let expected = format!("{}.{}", T::SERVICE, T::METHOD);
        let action = contract.action();
        let Some(call) = action.tool().filter(|call| call.name() == expected) else {
            let found = action.tool().map_or_else(
                || format!("an action of the type `{}`", action.action_type()),
                |call| format!("`{}`", call.name()),
            );
            return Err(InvalidContract::OtherTool { expected, found });
        };
        if contract.effect() < T::Effect::EFFECT {
            return Err(InvalidContract::EffectLowered { tool: expected });
        }
        let misfit = |source: serde_json::Error| InvalidContract::Arguments {
            tool: expected.clone(),
            reason: source.to_string(),
        };
        let arguments = || serde_json::from_value::<Self>(Value::Object(call.arguments.clone()));
        let tool = arguments().map_err(misfit)?;
        if !is_same(&tool, &arguments().map_err(misfit)?).map_err(misfit)? {
            let reason =
                "they are not the same each time that they are read, such as by a default \
                          that changes; store them with the action"
                    .to_owned();
            return Err(InvalidContract::Arguments { tool: expected, reason });
        }
        if !same(identity(&tool)?.as_ref(), call.identity) {
            return Err(InvalidContract::OtherIdentity { tool: expected });
        }
        Ok(tool)
    }

    fn __tool() -> Option<TypedTool> {
        let irreversible = T::Effect::EFFECT.is_irreversible();
        Some(TypedTool { service: T::SERVICE, method: T::METHOD, irreversible })
    }

    fn __answers_later() -> bool {
        T::Effect::__ANSWERS_LATER
    }

    fn __remade(contract: &Contract) -> Result<Option<Action>, InvalidContract> {
        let call = contract.action().tool();
        let Some(call) = call.filter(|it| (it.service, it.method) == (T::SERVICE, T::METHOD))
        else {
            return Ok(None);
        };
        let Ok(tool) = T::deserialize(call.arguments) else { return Ok(None) };
        contract.action().with_identity(identity(&tool)?).map(Some)
    }
}

/// Returns `true` if two values are written alike. Sets may be written in any order.
fn is_same<T: Serialize>(one: &T, other: &T) -> serde_json::Result<bool> {
    fn sort(value: &mut Value) {
        match value {
            Value::Array(items) => {
                items.iter_mut().for_each(sort);
                items.sort_by_cached_key(ToString::to_string);
            }
            Value::Object(members) => members.values_mut().for_each(sort),
            _ => {}
        }
    }
    let (mut one, mut other) = (serde_json::to_value(one)?, serde_json::to_value(other)?);
    if one != other {
        sort(&mut one);
        sort(&mut other);
    }
    Ok(one == other)
}

impl Callable for Action {
    type Receipt = String;

    fn __read(contract: &Contract) -> Result<Self, InvalidContract> {
        Ok(contract.action().clone())
    }
}

/// A call that may be repeated: a [`Tool`] that needs no permit. An [`Action`] of a tool that is known at
/// run time only may be, too; then a store checks that its contract is idempotent.
pub trait Repeatable: Callable {}

impl<T: Tool<Effect: NeedsNoPermit>> Repeatable for T {}

impl Repeatable for Action {}

/// A tool that is known at run time only, such as one that an MCP server offers.
///
/// ```
/// use machine::contract::{Effect, ToolSpec};
/// use serde_json::json;
///
/// let delete = ToolSpec::idempotent("files", "delete")?
///     .raise(Effect::Irreversible) // a hint of the server; hints never lower the risk
///     .template("", "{path}")
///     .template("zh", "文件 {path}");
/// assert_eq!(delete.effect(), Effect::Irreversible);
/// # Ok::<(), machine::contract::InvalidContract>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    pub(super) service: String,
    pub(super) method: String,
    pub(super) effect: Effect,
    pub(super) timeout: Option<Duration>,
    pub(super) settling_time: Duration,
    pub(super) templates: BTreeMap<String, String>,
    pub(super) questions: BTreeMap<String, String>,
    /// The names of the arguments that are secret.
    pub(super) secrets: BTreeSet<String>,
    #[cfg(feature = "tools")]
    pub(super) schema: Option<Value>,
}

impl ToolSpec {
    /// The default timeout of a tool call.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

    /// The default settling time. See [`Tool::SETTLING_TIME`].
    pub const DEFAULT_SETTLING_TIME: Duration = Duration::from_mins(1);

    /// A tool with an irreversible effect, such as sending a mail.
    ///
    /// # Errors
    ///
    /// [`InvalidContract::Empty`] if a name is empty, [`InvalidContract::NotACall`] if one has a
    /// space or a character that cannot be seen, or the service has a dot: then it could not be told
    /// from the method.
    pub fn irreversible(
        service: impl Into<String>,
        method: impl Into<String>,
    ) -> Result<Self, InvalidContract> {
        Self::new(service.into(), method.into(), Effect::Irreversible)
    }

    /// A tool that can safely be called again, such as reading a file.
    ///
    /// # Errors
    ///
    /// [`InvalidContract::Empty`] if a name is empty, [`InvalidContract::NotACall`] if one has a
    /// space or a character that cannot be seen, or the service has a dot: then it could not be told
    /// from the method.
    pub fn idempotent(
        service: impl Into<String>,
        method: impl Into<String>,
    ) -> Result<Self, InvalidContract> {
        Self::new(service.into(), method.into(), Effect::Idempotent)
    }

    fn new(service: String, method: String, effect: Effect) -> Result<Self, InvalidContract> {
        if service.is_empty() {
            return Err(InvalidContract::Empty("service"));
        }
        check_names(&service, &method).map_err(InvalidContract::NotACall)?;
        if method.is_empty() {
            return Err(InvalidContract::Empty("method"));
        }
        Ok(Self {
            service,
            method,
            effect,
            timeout: Some(Self::DEFAULT_TIMEOUT),
            settling_time: Self::DEFAULT_SETTLING_TIME,
            templates: BTreeMap::new(),
            questions: BTreeMap::new(),
            secrets: BTreeSet::new(),
            #[cfg(feature = "tools")]
            schema: None,
        })
    }

    /// The name: `service.method`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}.{}", self.service, self.method)
    }

    /// The effect of a call on the outside world.
    #[must_use]
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// Raises the effect, such as on a hint of the tool's server. A lower effect changes nothing.
    #[must_use]
    pub fn raise(mut self, effect: Effect) -> Self {
        self.effect = self.effect.max(effect);
        self
    }

    /// Sets the timeout of a call; `None` means no limit.
    #[must_use]
    pub fn timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the settling time. See [`Tool::SETTLING_TIME`].
    #[must_use]
    pub fn settling_time(mut self, settling_time: Duration) -> Self {
        self.settling_time = settling_time;
        self
    }

    /// Sets what a call is about, for people, in a language: a text in which `{name}` stands for an
    /// argument. The language is empty for the default.
    #[must_use]
    pub fn template(mut self, language: impl Into<String>, text: impl Into<String>) -> Self {
        self.templates.insert(language.into(), text.into());
        self
    }

    /// Sets the question to an approver, in a language: a text like that of [`template`](Self::template). See
    /// [`Tool::question`].
    #[must_use]
    pub fn question(mut self, language: impl Into<String>, text: impl Into<String>) -> Self {
        self.questions.insert(language.into(), text.into());
        self
    }

    /// Marks an argument as secret: every view and question shows its digest instead. See
    /// [`Secret`](super::Secret).
    #[must_use]
    pub fn secret(mut self, argument: impl Into<String>) -> Self {
        self.secrets.insert(argument.into());
        self
    }

    /// Sets the JSON Schema of the arguments. A [`Registry`](super::Registry) checks it.
    #[cfg(feature = "tools")]
    #[must_use]
    pub fn schema(mut self, schema: Value) -> Self {
        self.schema = Some(schema);
        self
    }
}

/// Templates with the arguments in their places, by language.
pub(super) fn filled(
    templates: &BTreeMap<String, String>,
    arguments: &Map<String, Value>,
) -> BTreeMap<String, String> {
    let argument = |name: &str| match arguments.get(name)? {
        Value::String(text) => Some(Cow::Borrowed(text.as_str())),
        other => Some(Cow::Owned(other.to_string())),
    };
    let templates = templates.iter();
    templates.map(|(language, text)| (language.clone(), fill(text, argument))).collect()
}
