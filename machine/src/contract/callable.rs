use std::fmt::Display;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    Action, ActionRefusal, Answer, Effect, EffectType, InvalidContract, NeedsNoPermit,
    refusal::read,
    tool::{Tool, identity, same},
};

/// A type that a call can be made from: a [`Tool`], or an [`Action`] of a tool that is known at run time
/// only. No other exists, so that the arguments of a call are those that were approved.
pub trait Callable: sealed::Sealed + Send + Sync + Sized + 'static {
    /// The receipt of a successful call.
    type Receipt: Serialize + DeserializeOwned + Send + 'static;
    /// The refusal of a call that was not applied.
    type Refusal: Serialize + DeserializeOwned + Display + Send + 'static;

    /// Reads the arguments of an action, which a contract says has this effect.
    #[doc(hidden)]
    fn __read(action: &Action, effect: Effect) -> Result<Self, InvalidContract>;

    /// Reads the refusal of the tool. That of a typed tool, read as the call of an [`Action`], is its text.
    #[doc(hidden)]
    fn __refusal(data: &Value, _text: &str) -> serde_json::Result<Self::Refusal> {
        read(data)
    }

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

    /// An earlier action, as this program makes it from the same arguments. `None` if
    /// it does not make that of this tool, or cannot read its arguments. By default from all arguments.
    #[doc(hidden)]
    fn __remade(action: &Action) -> Result<Option<Action>, InvalidContract> {
        action.with_identity(None).map(Some)
    }
}

/// The answer to the call of a tool.
pub type ToolAnswer<T> = Answer<<T as Callable>::Receipt, <T as Callable>::Refusal>;

/// The tool of a type.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct TypedTool {
    pub(super) service: &'static str,
    pub(super) method: &'static str,
    pub(super) irreversible: bool,
}

#[cfg(feature = "store")]
impl TypedTool {
    /// Returns whether it has this name.
    pub(crate) fn is(self, service: &str, method: &str) -> bool {
        (self.service, self.method) == (service, method)
    }

    /// Its name, if it is irreversible.
    pub(crate) fn irreversible(self) -> Option<String> {
        self.irreversible.then(|| format!("{}.{}", self.service, self.method))
    }

    /// The common prefix of its keys.
    pub(crate) fn keys(self) -> String {
        super::IdempotencyKey::tool_of(self.service, self.method)
    }
}

pub(super) mod sealed {
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
    type Refusal = T::Refusal;

    fn __read(action: &Action, effect: Effect) -> Result<Self, InvalidContract> {
        let expected = format!("{}.{}", T::SERVICE, T::METHOD);
        let Some(call) = action.tool().filter(|call| call.name() == expected) else {
            let found = action.tool().map_or_else(
                || format!("an action of the type `{}`", action.action_type()),
                |call| format!("`{}`", call.name()),
            );
            return Err(InvalidContract::OtherTool { expected, found });
        };
        if effect < T::Effect::EFFECT {
            return Err(InvalidContract::EffectLowered { tool: expected });
        }
        let misfit = |source: serde_json::Error| InvalidContract::Arguments {
            tool: expected.clone(),
            reason: source.to_string(),
        };
        let arguments = || serde_json::from_value::<Self>(Value::Object(call.arguments.clone()));
        let tool = arguments().map_err(misfit)?;
        if !is_same(&tool, &arguments().map_err(misfit)?).map_err(misfit)? {
            let reason = "they differ each time they are read, for example because of a changing \
                          default; store them with the action"
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

    fn __remade(action: &Action) -> Result<Option<Action>, InvalidContract> {
        let call = action.tool();
        let Some(call) = call.filter(|it| (it.service, it.method) == (T::SERVICE, T::METHOD))
        else {
            return Ok(None);
        };
        let Ok(tool) = T::deserialize(call.arguments) else { return Ok(None) };
        action.with_identity(identity(&tool)?).map(Some)
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
    type Refusal = ActionRefusal;

    fn __refusal(data: &Value, text: &str) -> serde_json::Result<ActionRefusal> {
        read(data).or_else(|_| Ok(ActionRefusal::new(text)))
    }

    fn __read(action: &Action, _: Effect) -> Result<Self, InvalidContract> {
        Ok(action.clone())
    }
}

/// A call that may be repeated: a [`Tool`] that needs no permit. An [`Action`] of a tool that is known at
/// run time only may be, too; then a store checks that its contract is idempotent.
pub trait Repeatable: Callable {}

impl<T: Tool<Effect: NeedsNoPermit>> Repeatable for T {}

impl Repeatable for Action {}
