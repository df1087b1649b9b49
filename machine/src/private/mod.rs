//! Support for generated code. Not part of the public API: anything in here may change.

#[cfg(feature = "durable")]
mod durable;
mod plain;

#[cfg(feature = "alloc")]
pub use alloc::boxed::Box;

#[cfg(feature = "durable")]
pub use self::durable::*;
pub use self::plain::*;
pub use crate::actor::who::{Who, kind, sender, unnamed, who};
pub use crate::definition::rows;
pub use crate::typed::{after, at};
pub use machine_derive::Declaration;
#[cfg(feature = "diagram")]
pub use machine_derive::svg;

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
