use std::any::TypeId;

use super::{Action, Callable, InvalidContract};

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
