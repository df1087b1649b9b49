//! Support for machines of every kind.

use core::any::{Any, TypeId};

use crate::{
    actor::{
        Actor,
        who::{Who, unnamed},
    },
    definition::{Definition, Move},
    typed::Illegal,
};

/// Returns `true` if the actor is a `B`. Both types are known at compile time, so this has no
/// run-time cost.
#[must_use]
pub fn is<B: 'static>(actor: &impl Actor) -> bool {
    let acting = crate::actor::acts_as(actor).map_or_else(|| actor.type_id(), |(acting, _)| acting);
    acting == TypeId::of::<B>()
}

/// A type that may be an actor. If it is not, only the table reports that.
#[derive(Debug)]
pub struct Named<'a, A>(pub &'a A);

impl<'a, A: Actor> Named<'a, A> {
    #[must_use]
    pub fn who(self, kind: &'static str) -> Who<'a> {
        Who { kind, name: self.0.name() }
    }
}

/// For types that are not actors.
pub trait Unnamed<'a>: Sized {
    #[must_use]
    fn who(self, kind: &'static str) -> Who<'a> {
        unnamed(kind)
    }
}

impl<'a, A> Unnamed<'a> for Named<'a, A> {}

/// The moves out of a state that this actor may make.
pub fn available<A: Actor>(
    definition: &'static Definition,
    state: usize,
    _by: &A,
) -> impl Iterator<Item = Move<'static>> + use<A> {
    definition.moves(state).filter(|step| step.edge().is_for::<A>())
}

/// Why an actor cannot use a trigger, guards aside; `None` if it can.
#[must_use]
pub fn check<A: Actor>(
    definition: &'static Definition,
    state: usize,
    trigger: &'static str,
    _by: &A,
) -> Option<Illegal> {
    let found = definition.find_move(state, trigger);
    let legal = found.is_some_and(|found| found.edge().is_for::<A>());
    (!legal).then(|| Illegal::__new(definition, state, trigger, A::KIND))
}

/// Replaces a machine in place with the result of a step.
///
/// While the step runs, `place` is moved out. If user code panics during the step, the process
/// aborts, because `place` would be left uninitialized.
pub fn replace<M, R>(place: &mut M, step: impl FnOnce(M) -> (R, M)) -> R {
    // This panics while already unwinding, so it aborts.
    replace_with::replace_with_and_return(place, || panic!("a transition panicked"), step)
}
