use std::any::TypeId;

use super::{Action, Callable, InvalidContract};

/// Makes the action of a tool from its arguments. A contract carries it as long as it is in
/// the program that made it.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Maker {
    type_id: TypeId,
    remake: fn(&Action) -> Result<Option<Action>, InvalidContract>,
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
    pub(crate) fn remake(self, action: &Action) -> Result<Option<Action>, InvalidContract> {
        (self.remake)(action)
    }
}

impl PartialEq for Maker {
    fn eq(&self, other: &Self) -> bool {
        self.type_id == other.type_id
    }
}

impl Eq for Maker {}
