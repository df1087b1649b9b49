use std::{any::TypeId, fmt::Debug};

use serde::Serialize;

use crate::{clock::Millis, definition};

/// The audience of a view. A field that is not for this audience is [`Hidden`], so that code
/// that reads it does not compile:
///
/// ```compile_fail,E0308
/// use machine::view::{ExecutionSnapshot, Human};
///
/// fn print(snapshot: &ExecutionSnapshot<Human>) {
///     let key: &Option<String> = &snapshot.idempotency_key;
///     println!("{key:?}");
/// }
/// ```
pub trait Audience:
    Debug + Clone + Copy + Default + PartialEq + Eq + Send + Sync + 'static
{
    /// This audience as a value: a field is shown if its mark is not below it.
    const LEVEL: definition::Audience;

    /// A field shown to developers: `T`, or [`Hidden`].
    type Diagnostic<T: Shown>: Shown;

    /// A field shown only to the program itself: `T`, or [`Hidden`].
    type Internal<T: Shown>: Shown;

    /// The field, if this audience may see it.
    #[doc(hidden)]
    fn __diagnostic<T: Shown>(value: impl FnOnce() -> T) -> Self::Diagnostic<T>;

    /// The field, if this audience may see it.
    #[doc(hidden)]
    fn __internal<T: Shown>(value: impl FnOnce() -> T) -> Self::Internal<T>;
}

/// The bounds on the fields of views. Implemented for every type that has these traits.
pub trait Shown: Debug + Clone + PartialEq + Serialize + Send + Sync + 'static {}

impl<T: Debug + Clone + PartialEq + Serialize + Send + Sync + 'static> Shown for T {}

/// In place of a field that this audience may not see. JSON leaves it out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Hidden;

/// People who use or approve what a machine does, and the prompts of models: no keys, no names of
/// programs, no raw data. They see which person acted, an [`actor::Human`](crate::actor::Human).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, crate::ToSchema)]
pub struct Human;

/// Developers who find out what happened: also keys, timeouts, and who acted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, crate::ToSchema)]
pub struct Diagnostic;

/// The program itself: everything that is stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, crate::ToSchema)]
pub struct Internal;

impl Audience for Human {
    const LEVEL: definition::Audience = definition::Audience::Human;
    type Diagnostic<T: Shown> = Hidden;
    type Internal<T: Shown> = Hidden;

    fn __diagnostic<T: Shown>(_: impl FnOnce() -> T) -> Hidden {
        Hidden
    }

    fn __internal<T: Shown>(_: impl FnOnce() -> T) -> Hidden {
        Hidden
    }
}

impl Audience for Diagnostic {
    const LEVEL: definition::Audience = definition::Audience::Diagnostic;
    type Diagnostic<T: Shown> = T;
    type Internal<T: Shown> = Hidden;

    fn __diagnostic<T: Shown>(value: impl FnOnce() -> T) -> T {
        value()
    }

    fn __internal<T: Shown>(_: impl FnOnce() -> T) -> Hidden {
        Hidden
    }
}

impl Audience for Internal {
    const LEVEL: definition::Audience = definition::Audience::Internal;
    type Diagnostic<T: Shown> = T;
    type Internal<T: Shown> = T;

    fn __diagnostic<T: Shown>(value: impl FnOnce() -> T) -> T {
        value()
    }

    fn __internal<T: Shown>(value: impl FnOnce() -> T) -> T {
        value()
    }
}

/// When a wait ends that began at `since`, as an audience may see it. People see it to the minute,
/// and of a short wait to the second, so that it does not tell the exact limit; it is never later
/// than it is.
pub(crate) fn due<A: Audience>(at: Millis, since: Millis) -> Millis {
    if A::LEVEL < definition::Audience::Human {
        return at;
    }
    let step = if at.saturating_sub(since) < 2 * 60_000 { 1000 } else { 60_000 };
    at.saturating_sub(at.rem_euclid(step))
}

pub(crate) fn is_hidden<T: 'static>(_: &T) -> bool {
    TypeId::of::<T>() == TypeId::of::<Hidden>()
}
