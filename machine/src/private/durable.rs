//! Support for durable machines.

use std::{marker::PhantomData, sync::Arc};

use crate::{
    contract::{CallError, Idempotent, Invoke, Outcome, invoked, outcome::reader},
    stored::{
        Data,
        data::{encode, read},
    },
};

pub use crate::{
    contract::{Invoked, row_of},
    journal::{Journal, log::Pass, payload::Payload},
    stored::{
        Context, Core, Durable, Restore, Unverified,
        compare::{Incomparable, Pair},
        entered::Entered,
        outcomes::OutcomeReader,
        rules::Rules,
        unread::Unread,
        unwritten::Unwritten,
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
    let mut value = serde::Deserialize::deserialize(deserializer)?;
    crate::journal::make_plain(&mut value);
    Ok(value)
}

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
        Err(<serde_json::Error as serde::ser::Error>::custom("not storable").into())
    }

    fn context<F>(self, _differs: F) -> Result<Arc<str>, Unwritten> {
        Err(<serde_json::Error as serde::ser::Error>::custom("not storable").into())
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

/// Functions that give types: these or, for a type that is not a tool, any.
macro_rules! types {
    ($($name:ident: $ty:ty),*) => {$(
        #[must_use]
        pub fn $name(self) -> PhantomData<$ty> {
            PhantomData
        }
    )*};
    ($($name:ident),*) => {$(
        #[must_use]
        fn $name<Any>(self) -> PhantomData<Any> {
            PhantomData
        }
    )*};
}

impl<T: Invoke> OfTool<T> {
    types!(
        receipt: T::Receipt,
        error: CallError<T::Refusal>,
        outcome: Outcome<T>,
        outcomes: Vec<Outcome<T>>,
        effect: T::Effect
    );

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
    types!(receipt, error, outcome, outcomes);

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
