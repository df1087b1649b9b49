//! The acting actor, as the journal names it.

use super::{Actor, Anyone, acts_as, is_genuine};

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

/// The acting actor of a move that any actor may make, for the journal. [`Anyone`] names no actor,
/// and a type that only has the kind of an actor of this library is not that actor.
#[must_use]
pub fn sender<A: Actor>(by: &A) -> Option<Who<'_>> {
    let who = who(by);
    (is_genuine::<A>() && who.kind != Anyone::KIND).then_some(who)
}

/// An actor of this kind without a name, such as the one that fires deadlines.
#[must_use]
pub const fn unnamed(kind: &'static str) -> Who<'static> {
    Who { kind, name: None }
}
