//! What generated code calls. No promise is made about anything in here.

use crate::actor::Actor;

/// Whether the actor is a `B`. The compiler knows both, so the answer costs nothing at run time.
#[must_use]
pub fn is<B: Actor>(actor: &impl Actor) -> bool {
    is_type::<B, _>(actor)
}

fn is_type<B: 'static, A: 'static>(_: &A) -> bool {
    std::any::TypeId::of::<A>() == std::any::TypeId::of::<B>()
}

/// The actor's name in the journal.
#[must_use]
pub fn kind<A: Actor>(_: &A) -> &'static str {
    A::KIND
}

/// Replaces a machine in place by what a step makes of it.
///
/// For a moment `place` holds nothing; should the user's own code panic in that moment, the
/// process ends rather than go on with a machine that is not there.
pub fn replace<M, R>(place: &mut M, step: impl FnOnce(M) -> (R, M)) -> R {
    replace_with::replace_with_or_abort_and_return(place, step)
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

    /// What a context asks of stores.
    #[must_use]
    pub fn rules<C: Context>(context: &C) -> &dyn Context {
        context
    }
}
