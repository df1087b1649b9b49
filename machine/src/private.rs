//! Support for generated code. Not part of the public API: anything in here may change.

pub use alloc::boxed::Box;

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

/// Returns `true` if the actor is a `B`. Both types are known at compile time, so this has no run-time cost.
#[must_use]
pub fn is<B: 'static>(actor: &impl Actor) -> bool {
    is_type::<B, _>(actor)
}

fn is_type<B: 'static, A: Actor>(actor: &A) -> bool {
    let wanted = core::any::TypeId::of::<B>();
    match crate::actor::acts_as(actor) {
        Some((acting, _)) => acting == wanted,
        None => core::any::TypeId::of::<A>() == wanted,
    }
}

/// The actor's name in the journal.
#[must_use]
pub fn kind<A: Actor>(actor: &A) -> &'static str {
    crate::actor::acts_as(actor).map_or(A::KIND, |(_, kind)| kind)
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

/// A type that may be an actor. If it is not, the table reports that, and nothing else does.
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
    definition.moves(state).filter(Move::is_for::<A>)
}

/// Why an actor cannot use a trigger, guards aside; `None` if it can.
#[must_use]
pub fn check<A: Actor>(
    definition: &'static Definition,
    state: usize,
    trigger: &'static str,
    _by: &A,
) -> Option<Illegal> {
    Illegal::__check::<A>(definition, state, trigger)
}

/// Replaces a machine in place with the result of a step.
///
/// While the step runs, `place` is moved out. If user code panics during the step, the process
/// aborts, because `place` would be left uninitialized.
pub fn replace<M, R>(place: &mut M, step: impl FnOnce(M) -> (R, M)) -> R {
    // This panics while already unwinding, so it aborts.
    replace_with::replace_with_and_return(place, || panic!("a transition panicked"), step)
}

#[cfg(feature = "durable")]
pub use self::durable::*;

#[cfg(feature = "durable")]
mod durable {
    use std::{marker::PhantomData, sync::Arc};

    pub use crate::{
        journal::{Journal, Pass, Payload},
        stored::{
            Context, Core, Data, Durable, Parts, Restore, Rules, Unread, Unverified, Verified,
        },
    };
    pub use serde;
    pub use serde_json;

    /// JSON with numbers that survive the buffering of a tagged enum.
    ///
    /// # Errors
    ///
    /// The errors of the deserializer.
    pub fn plain_value<'de, D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> Result<serde_json::Value, D::Error> {
        serde::Deserialize::deserialize(deserializer).map(crate::journal::plain_numbers)
    }

    /// The value as JSON text that can be read back. A value that cannot be read back, such as NaN,
    /// must not reach the disk.
    ///
    /// # Errors
    ///
    /// The error of `serde_json`.
    pub fn encode<T: serde::Serialize + serde::de::DeserializeOwned>(
        value: &T,
    ) -> serde_json::Result<String> {
        let text = serde_json::to_string(value)?;
        crate::journal::check_written(&text).map_err(serde::ser::Error::custom)?;
        serde_json::from_str::<T>(&text)?;
        Ok(text)
    }

    /// A value that may be storable. If it is not, the bounds of the declaration report that, and
    /// nothing else does: [`Unstorable`] has the same methods.
    #[derive(Debug)]
    pub struct Value<'a, T>(pub &'a T);

    impl<T: serde::Serialize> Value<'_, T> {
        #[must_use]
        pub fn add_to(self, payload: Payload, name: &str) -> Payload {
            payload.__with(name, self.0)
        }
    }

    impl<T: serde::Serialize + serde::de::DeserializeOwned> Value<'_, T> {
        pub fn encode(self) -> serde_json::Result<String> {
            encode(self.0)
        }
    }

    impl<C: Data> Value<'_, Core<C>> {
        pub fn context(self) -> serde_json::Result<Arc<str>> {
            self.0.__context_text()
        }
    }

    /// A type that may be readable, in the same way.
    #[derive(Debug)]
    pub struct Reader<T>(pub PhantomData<T>);

    impl<T: Data> Reader<T> {
        pub fn read(self, text: &str) -> serde_json::Result<T> {
            crate::stored::read(text, T::__of_text)
        }
    }

    /// For types that cannot be stored. A program that has one does not compile.
    pub trait Unstorable: Sized {
        #[must_use]
        fn add_to(self, payload: Payload, _name: &str) -> Payload {
            payload
        }

        fn encode(self) -> serde_json::Result<String> {
            Err(serde::ser::Error::custom("not storable"))
        }

        fn context(self) -> serde_json::Result<Arc<str>> {
            Err(serde::ser::Error::custom("not storable"))
        }
    }

    impl<T> Unstorable for Value<'_, T> {}

    /// Like [`Unstorable`], for [`Reader`].
    pub trait Unreadable<T>: Sized {
        fn read(self, _text: &str) -> serde_json::Result<T> {
            Err(serde::de::Error::custom("not storable"))
        }
    }

    impl<T> Unreadable<T> for Reader<T> {}
}
