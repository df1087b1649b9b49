//! The acting actor, as the journal names it.

use super::{Actor, acts_as};

/// The actor's name in the journal.
#[must_use]
pub fn kind<A: Actor>(actor: &A) -> &'static str {
    acts_as(actor).map_or(A::KIND, |(_, kind)| kind)
}

/// The acting actor, for the journal.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(feature = "durable"), allow(dead_code, reason = "plain machines have no journal"))]
pub struct Who<'a> {
    pub(crate) kind: &'static str,
    pub(crate) name: Option<&'a str>,
}

/// Describes the acting actor, for the journal.
#[must_use]
pub fn who<A: Actor>(by: &A) -> Who<'_> {
    Who { kind: kind(by), name: by.name() }
}

/// An actor of this kind without a name, such as the one that fires deadlines.
#[must_use]
pub const fn unnamed(kind: &'static str) -> Who<'static> {
    Who { kind, name: None }
}
