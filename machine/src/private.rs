//! Support for generated code. Not part of the public API: anything in here may change.

#[cfg(feature = "alloc")]
pub use alloc::boxed::Box;

pub use crate::actor::who::{Who, kind, sender, unnamed, who};
pub use crate::definition::rows;
pub use crate::typed::{after, at};
pub use machine_derive::Declaration;
#[cfg(feature = "diagram")]
pub use machine_derive::svg;

use crate::{
    actor::Actor,
    definition::{Definition, Move},
    typed::Illegal,
};

/// The methods for illegal moves, which exist for the messages of the compiler. An editor does not
/// see them, so that it offers only legal moves.
#[cfg(not(rust_analyzer))]
#[doc(hidden)]
#[macro_export]
macro_rules! __refusals {
    ($($item:tt)*) => { $($item)* };
}
#[cfg(rust_analyzer)]
#[doc(hidden)]
#[macro_export]
macro_rules! __refusals {
    ($($item:tt)*) => {};
}
pub use crate::__refusals as refusals;

/// The targets of transitions, for an editor: it leads from a target to its state.
#[cfg(not(rust_analyzer))]
#[doc(hidden)]
#[macro_export]
macro_rules! __links {
    ($($state:ident)*) => {};
}
#[cfg(rust_analyzer)]
#[doc(hidden)]
#[macro_export]
macro_rules! __links {
    ($($state:ident)*) => { const _: () = { $(use self::$state as _;)* }; };
}
pub use crate::__links as links;

/// The handlers of a machine's states, which only a worker calls.
#[cfg(feature = "worker")]
#[doc(hidden)]
#[macro_export]
macro_rules! __handlers {
    (
        $(#[$about:meta])*
        $typed:ident $any:ident
        {$(
            $(#[$docs:meta])*
            $method:ident $state:ident
            ($($outcome:ident: $ty:ty = $read:ident, $tool:ty)?)
            $body:tt
        )*}
        {$($end:ident)*}
        $($self_driven:item)?
    ) => {
        $(#[$about])*
        #[allow(dead_code)]
        pub trait Handle: ::core::marker::Send + ::core::marker::Sync + 'static
        where
            // Holds, or was reported where the tool is named.
            $($(for<'__> $tool: $crate::contract::Callable,)?)*
        {
            $(
                $(#[$docs])*
                fn $method(
                    &self,
                    machine: $typed<$state>,
                    $($outcome: $ty,)?
                    task: &mut $crate::worker::Task,
                ) -> impl ::core::future::Future<
                    Output = $crate::worker::Handled<$any>,
                > + ::core::marker::Send
                $body
            )*
        }

        /// Makes a handler for a worker from one for each state.
        #[derive(Debug)]
        #[allow(dead_code)]
        pub struct Driver<H>(pub H);

        impl<H: Handle> $crate::worker::Handler for Driver<H>
        where
            for<'__> $any: $crate::worker::Driven,
            $($(for<'__> $tool: $crate::contract::Callable,)?)*
        {
            type Machine = $any;

            async fn handle(
                &self,
                machine: $any,
                task: &mut $crate::worker::Task,
            ) -> $crate::worker::Handled<$any> {
                match machine {
                    $(
                        $any::$state(machine) => {
                            $(
                                let ::core::option::Option::Some($outcome) =
                                    task.$read::<$tool>()?
                                else {
                                    return ::core::result::Result::Ok($crate::worker::Next::Wait);
                                };
                            )?
                            self.0.$method(machine, $($outcome,)? task).await
                        }
                    )*
                    $($any::$end(_) => ::core::result::Result::Ok($crate::worker::Next::Wait),)*
                }
            }
        }

        $($self_driven)?
    };
}
#[cfg(not(feature = "worker"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __handlers {
    ($($item:tt)*) => {};
}
pub use crate::__handlers as handlers;

/// Returns `true` if the actor is a `B`. Both types are known at compile time, so this has no
/// run-time cost.
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
    Illegal::check::<A>(definition, state, trigger)
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
    use std::{error::Error, marker::PhantomData, sync::Arc};

    use crate::{
        contract::{CallError, Idempotent, Invoke, Outcome, invoked, reader},
        stored::{
            Data,
            data::{encode, read},
        },
    };

    pub use crate::{
        contract::{Invoked, IsRefusal, row_of},
        journal::{Journal, log::Pass, payload::Payload},
        stored::{
            Context, Core, Durable, Entered, OutcomeReader, Restore, Unread, Unverified, Unwritten,
            compare::{Incomparable, Pair},
            rules::Rules,
            verify::{Parts, Verified},
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

    /// A refusal that may be an error. If it is not, [`NotAnError`] has the same function.
    #[derive(Debug)]
    pub struct OfRefusal<N>(PhantomData<fn() -> N>);

    impl<N: Error + 'static> OfRefusal<N> {
        #[must_use]
        pub fn test() -> Option<IsRefusal> {
            Some(<dyn Error>::is::<N>)
        }
    }

    pub trait NotAnError {
        #[must_use]
        fn test() -> Option<IsRefusal> {
            None
        }
    }

    impl<N> NotAnError for OfRefusal<N> {}

    /// A field of a tool's identity. One that cannot be written as JSON cannot be an argument
    /// either.
    #[must_use]
    pub fn identity(field: &impl serde::Serialize) -> Option<serde_json::Value> {
        serde_json::to_value(field).ok()
    }

    /// A value that may be storable. If it is not, the bounds of the declaration report that, and
    /// nothing else does: [`Unstorable`] has the same methods.
    #[derive(Debug)]
    pub struct Value<'a, T>(pub &'a T);

    impl<T: serde::Serialize> Value<'_, T> {
        #[must_use]
        pub fn add_to(self, payload: Payload, name: &str) -> Payload {
            payload.with(name, self.0)
        }
    }

    impl<T: serde::Serialize + serde::de::DeserializeOwned> Value<'_, T> {
        pub fn encode<const N: usize>(
            self,
            compare: impl FnOnce(&T) -> [(&'static str, bool); N],
        ) -> Result<String, Unwritten> {
            encode(self.0, compare)
        }
    }

    impl<C: Data> Value<'_, Core<C>> {
        pub fn context(self, differs: impl FnOnce(&C, &C) -> bool) -> Result<Arc<str>, Unwritten> {
            self.0.__context_text(differs)
        }
    }

    /// A type that may be readable, in the same way.
    #[derive(Debug)]
    pub struct Reader<T>(pub PhantomData<T>);

    impl<T: Data> Reader<T> {
        pub fn read(self, text: &str) -> serde_json::Result<T> {
            read(text, T::__of_text)
        }
    }

    /// For types that cannot be stored. A program that has one does not compile.
    pub trait Unstorable: Sized {
        #[must_use]
        fn add_to(self, payload: Payload, _name: &str) -> Payload {
            payload
        }

        fn encode<F>(self, _compare: F) -> Result<String, Unwritten> {
            let error: serde_json::Error = serde::ser::Error::custom("not storable");
            Err(error.into())
        }

        fn context<F>(self, _differs: F) -> Result<Arc<str>, Unwritten> {
            let error: serde_json::Error = serde::ser::Error::custom("not storable");
            Err(error.into())
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

    /// A type that may be a tool. If it is not, only the table reports that: [`NotCallable`] has
    /// the same methods.
    #[derive(Debug)]
    pub struct OfTool<T>(PhantomData<fn() -> T>);

    impl<T> OfTool<T> {
        pub const NEW: Self = Self(PhantomData);

        /// The index of a call of a set.
        #[must_use]
        pub fn index(self) -> PhantomData<usize> {
            PhantomData
        }
    }

    impl<T: Invoke> OfTool<T> {
        #[must_use]
        pub fn receipt(self) -> PhantomData<T::Receipt> {
            PhantomData
        }

        #[must_use]
        pub fn error(self) -> PhantomData<CallError<T::Refusal>> {
            PhantomData
        }

        #[must_use]
        pub fn outcome(self) -> PhantomData<Outcome<T>> {
            PhantomData
        }

        #[must_use]
        pub fn outcomes(self) -> PhantomData<Vec<Outcome<T>>> {
            PhantomData
        }

        #[must_use]
        pub fn effect(self) -> PhantomData<T::Effect> {
            PhantomData
        }

        #[must_use]
        pub fn outcomes_of_calls(self) -> Option<OutcomeReader> {
            Some(reader::<T>())
        }

        pub fn invoked(
            self,
            machine: &dyn Durable,
            calls: impl IntoIterator<Item = Invoked<T>>,
        ) -> Entered {
            invoked(machine, calls)
        }
    }

    /// Two types, of which the second is that of a value.
    #[must_use]
    pub fn paired<T, Of>(_: PhantomData<Of>) -> PhantomData<(T, Of)> {
        PhantomData
    }

    /// For types that are not tools. A program that invokes one does not compile.
    pub trait NotCallable<T>: Sized {
        #[must_use]
        fn receipt<Any>(self) -> PhantomData<Any> {
            PhantomData
        }

        #[must_use]
        fn error<Any>(self) -> PhantomData<Any> {
            PhantomData
        }

        #[must_use]
        fn outcome<Any>(self) -> PhantomData<Any> {
            PhantomData
        }

        #[must_use]
        fn outcomes<Any>(self) -> PhantomData<Any> {
            PhantomData
        }

        #[must_use]
        fn effect(self) -> PhantomData<Idempotent> {
            PhantomData
        }

        #[must_use]
        fn outcomes_of_calls(self) -> Option<OutcomeReader> {
            None
        }

        fn invoked(
            self,
            _machine: &dyn Durable,
            _calls: impl IntoIterator<Item = Invoked<T>>,
        ) -> Entered {
            Entered::default()
        }
    }

    impl<T> NotCallable<T> for OfTool<T> {}
}
