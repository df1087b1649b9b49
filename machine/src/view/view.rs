use std::{fmt, ops::Deref};

use serde::Serialize;

/// A view as the library made it. Its fields can be read, and not set.
///
/// ```
/// use machine::view::{Topology, View};
/// use machine::contract::execution;
///
/// let topology: View<Topology> = Topology::of(execution::DEFINITION);
/// assert_eq!(topology.machine, "execution");
/// ```
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct View<T>(T);

impl<T> View<T> {
    pub(crate) fn new(view: T) -> Self {
        Self(view)
    }

    pub(crate) fn into_inner(self) -> T {
        self.0
    }
}

impl<T> Deref for View<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for View<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: fmt::Display> fmt::Display for View<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
