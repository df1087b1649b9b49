use std::{any::TypeId, fmt::Display};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::{
    Action, ActionRefusal, Answer, Effect, EffectType, InvalidContract, NeedsNoPermit,
    refusal::read,
    same_arguments,
    tool::{Tool, identity, same, tool_name},
};

/// A type that a call can be made from: a [`Tool`], or an [`Action`] of a tool that is known only
/// at run time. There are no others, so the arguments of a call are always the approved ones.
pub trait Callable: sealed::Sealed + Send + Sync + Sized + 'static {
    /// The receipt of a successful call.
    type Receipt: Serialize + DeserializeOwned + Send + 'static;
    /// The refusal of a call that was not applied.
    type Refusal: Serialize + DeserializeOwned + Display + Send + 'static;

    /// Reads the arguments of an action, which a contract says has this effect.
    #[doc(hidden)]
    fn __read(action: &Action, effect: Effect) -> Result<Self, InvalidContract>;

    /// Checks that a call may run with the arguments that were read: they are those of the action,
    /// which may have been approved, and make its key. By default they are the action itself.
    #[doc(hidden)]
    fn __check(&self, _action: &Action, _effect: Effect) -> Result<(), InvalidContract> {
        Ok(())
    }

    /// Reads the refusal of the tool. That of a typed tool, read as the call of an [`Action`], is
    /// its text.
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

    /// An earlier action, as this program makes it from the same arguments. `None` if it does not
    /// make that of this tool, or cannot read its arguments. By default from all arguments.
    #[doc(hidden)]
    fn __remade(action: &Action) -> Result<Option<Action>, InvalidContract> {
        action.with("identity", None).map(Some)
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
    /// Its service may report the outcome of a call later.
    pub(crate) answers_later: bool,
}

impl TypedTool {
    pub(crate) fn is(self, service: &str, method: &str) -> bool {
        (self.service, self.method) == (service, method)
    }

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
        let arguments = arguments::<T>(action)?;
        if effect < T::Effect::EFFECT {
            return Err(InvalidContract::EffectLowered { tool: tool_name::<T>() });
        }
        same_arguments::read(arguments)
    }

    fn __check(&self, action: &Action, effect: Effect) -> Result<(), InvalidContract> {
        same_arguments::check_stored(self, action, arguments::<T>(action)?, effect)?;
        if same(identity(self)?.as_ref(), action.tool().and_then(|call| call.identity)) {
            Ok(())
        } else {
            Err(InvalidContract::OtherIdentity { tool: tool_name::<T>() })
        }
    }

    fn __tool() -> Option<TypedTool> {
        Some(TypedTool {
            service: T::SERVICE,
            method: T::METHOD,
            irreversible: T::Effect::EFFECT.is_irreversible(),
            answers_later: T::Effect::__ANSWERS_LATER,
        })
    }

    fn __remade(action: &Action) -> Result<Option<Action>, InvalidContract> {
        let call = action.tool();
        let Some(call) = call.filter(|it| (it.service, it.method) == (T::SERVICE, T::METHOD))
        else {
            return Ok(None);
        };
        let Ok(tool) = T::deserialize(call.arguments) else { return Ok(None) };
        action.with("identity", identity(&tool)?).map(Some)
    }
}

fn arguments<T: Tool>(action: &Action) -> Result<&Map<String, Value>, InvalidContract> {
    let expected = tool_name::<T>();
    match action.tool() {
        Some(call) if call.name() == expected => Ok(call.arguments),
        Some(call) => {
            Err(InvalidContract::OtherTool { expected, found: format!("`{}`", call.name()) })
        }
        None => {
            let found = format!("an action of the type `{}`", action.action_type());
            Err(InvalidContract::OtherTool { expected, found })
        }
    }
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

/// A call that may be repeated: a [`Tool`] that needs no permit. An [`Action`] of a tool that is
/// known at run time only may be, too; then a store checks that its contract is idempotent.
pub trait Repeatable: Callable {}

impl<T: Tool<Effect: NeedsNoPermit>> Repeatable for T {}

impl Repeatable for Action {}

/// Makes the action of a tool from its arguments. A contract carries it as long as it is in
/// the program that made it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Maker {
    pub(crate) type_id: TypeId,
    /// See [`Callable::__remade`].
    pub(crate) remake: fn(&Action) -> Result<Option<Action>, InvalidContract>,
}

impl Maker {
    pub(crate) fn of<T: Callable>() -> Self {
        Self { type_id: TypeId::of::<T>(), remake: T::__remade }
    }
}
