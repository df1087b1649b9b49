//! What generated code calls. No promise is made about anything in here.

pub use crate::definition::rows;
pub use crate::typed::{Deadline, after};
pub use machine_derive::Declaration;
#[cfg(feature = "diagram")]
pub use machine_derive::svg;

use crate::{
    actor::Actor,
    definition::{Definition, Move},
    typed::Illegal,
};

/// Whether the actor is a `B`. The compiler knows both, so the answer costs nothing at run time.
#[must_use]
pub fn is<B: 'static>(actor: &impl Actor) -> bool {
    is_type::<B, _>(actor)
}

fn is_type<B: 'static, A: 'static>(_: &A) -> bool {
    core::any::TypeId::of::<A>() == core::any::TypeId::of::<B>()
}

/// The actor's name in the journal.
#[must_use]
pub fn kind<A: Actor>(_: &A) -> &'static str {
    A::KIND
}

/// The moves out of a state that this actor may take.
pub fn available<A: Actor>(
    definition: &'static Definition,
    state: usize,
    _by: &A,
) -> impl Iterator<Item = Move<'static>> + use<A> {
    definition.moves(state).filter(Move::is_for::<A>)
}

/// Why an actor cannot take a trigger, guards aside; `None` when it can.
#[must_use]
pub fn check<A: Actor>(
    definition: &'static Definition,
    state: usize,
    trigger: &'static str,
    _by: &A,
) -> Option<Illegal> {
    Illegal::__check::<A>(definition, state, trigger)
}

/// Replaces a machine in place by what a step makes of it.
///
/// For a moment `place` holds nothing; should the user's own code panic in that moment, the
/// process ends rather than go on with a machine that is not there.
pub fn replace<M, R>(place: &mut M, step: impl FnOnce(M) -> (R, M)) -> R {
    // The panic comes on top of one that is on its way, so it aborts.
    replace_with::replace_with_and_return(place, || panic!("a transition panicked"), step)
}

#[cfg(feature = "serde")]
pub use self::durable::*;

#[cfg(feature = "serde")]
mod durable {
    pub use crate::{
        erased::{Context, Core, Durable, Restore, Unverified, Verified},
        journal::{Journal, Pass, Payload},
    };
    pub use serde;
    pub use serde_json;

    /// Data of the next version, made by the user's function.
    ///
    /// # Errors
    ///
    /// What the function says.
    pub fn upgrade<A, B, E: core::fmt::Display>(
        function: impl FnOnce(A) -> Result<B, E>,
        older: A,
    ) -> serde_json::Result<B> {
        function(older).map_err(serde::de::Error::custom)
    }

    /// The value as JSON text that can be read back: what cannot, such as a number that is none,
    /// must not get as far as a disk.
    ///
    /// # Errors
    ///
    /// What `serde_json` says.
    pub fn encode<T: serde::Serialize + serde::de::DeserializeOwned>(
        value: &T,
    ) -> serde_json::Result<String> {
        let text = serde_json::to_string(value)?;
        serde_json::from_str::<T>(&text)?;
        Ok(text)
    }
}
