use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use serde_json::{Map, Value};

use super::{Effect, InvalidContract, action::check_names};
use crate::language::fill;

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
    pub(super) per_call: bool,
    pub(super) templates: BTreeMap<String, String>,
    pub(super) questions: BTreeMap<String, String>,
    /// The names of the arguments that are secret.
    pub(super) secrets: BTreeSet<String>,
    #[cfg(feature = "tools")]
    pub(super) schema: Option<Value>,
}

impl ToolSpec {
    pub(super) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

    pub(super) const DEFAULT_SETTLING_TIME: Duration = Duration::from_mins(1);

    /// A tool with an irreversible effect, such as sending a mail.
    ///
    /// # Errors
    ///
    /// [`InvalidContract::Empty`] if a name is empty, [`InvalidContract::NotACall`] if one has a
    /// space or a character that cannot be seen, or the service has a dot: then it could not be
    /// told from the method.
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
    /// space or a character that cannot be seen, or the service has a dot: then it could not be
    /// told from the method.
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
            per_call: false,
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

    /// Raises the effect, for example on a hint of the tool's server. A lower effect changes
    /// nothing.
    #[must_use]
    pub fn raise(mut self, effect: Effect) -> Self {
        self.effect = self.effect.max(effect);
        self
    }

    /// Sets the timeout of a call; `None` means no limit. The default is 30 seconds.
    #[must_use]
    pub fn timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the settling time; the default is one minute. See
    /// [`Tool::SETTLING_TIME`](super::Tool::SETTLING_TIME).
    #[must_use]
    pub fn settling_time(mut self, settling_time: Duration) -> Self {
        self.settling_time = settling_time;
        self
    }

    /// Gives each call that a machine makes by entering a state, such as each call of an agent, a
    /// separate [occurrence](super::Contract::occurrence): an irreversible tool takes effect once
    /// for each call, instead of once for equal arguments. The library names the occurrence; a
    /// model cannot choose it.
    #[must_use]
    pub fn per_call(mut self) -> Self {
        self.per_call = true;
        self
    }

    /// Sets the subject of a call, for people, in a language: a text in which `{name}` stands for
    /// an argument. The language is empty for the default.
    #[must_use]
    pub fn template(mut self, language: impl Into<String>, text: impl Into<String>) -> Self {
        self.templates.insert(language.into(), text.into());
        self
    }

    /// Sets the question to an approver, in a language: a text like that of
    /// [`template`](Self::template). See [`Tool::question`](super::Tool::question).
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
