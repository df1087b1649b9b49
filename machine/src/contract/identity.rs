use std::any::TypeId;

use serde_json::Value;

#[cfg(feature = "store")]
use super::IdempotencyKey;
use super::{Action, Callable, Contract, InvalidContract, Tool};
use crate::journal::canonical_whole;

/// Makes the action of a tool from its arguments. A contract carries it as long as it is in
/// the program that made it.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Maker {
    type_id: TypeId,
    remake: fn(&Contract) -> Result<Option<Action>, InvalidContract>,
}

impl Maker {
    pub(crate) fn of<T: Callable>() -> Self {
        Self { type_id: TypeId::of::<T>(), remake: T::__remade }
    }

    /// The type of the tool.
    #[cfg(feature = "store")]
    pub(crate) fn type_id(self) -> TypeId {
        self.type_id
    }

    /// See [`Callable::__remade`].
    #[cfg(feature = "store")]
    pub(crate) fn remake(self, contract: &Contract) -> Result<Option<Action>, InvalidContract> {
        (self.remake)(contract)
    }
}

impl PartialEq for Maker {
    fn eq(&self, other: &Self) -> bool {
        self.type_id == other.type_id
    }
}

impl Eq for Maker {}

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
    /// Its name, if it is irreversible.
    pub(crate) fn irreversible(self) -> Option<String> {
        self.irreversible.then(|| format!("{}.{}", self.service, self.method))
    }

    /// The common prefix of its keys.
    pub(crate) fn keys(self) -> String {
        IdempotencyKey::tool_of(self.service, self.method)
    }
}

/// The identity of a call. It is computed twice, because one that differs makes two keys.
pub(super) fn identity<T: Tool>(tool: &T) -> Result<Option<Value>, InvalidContract> {
    let first = tool.identity();
    if !same(first.as_ref(), tool.identity().as_ref()) {
        let tool = format!("{}.{}", T::SERVICE, T::METHOD);
        return Err(InvalidContract::OtherIdentity { tool });
    }
    Ok(first)
}

/// Returns `true` if two identities make the same key.
pub(super) fn same(one: Option<&Value>, other: Option<&Value>) -> bool {
    one.map(canonical_whole) == other.map(canonical_whole)
}
