//! The classes of errors, for telemetry.

use super::{EffectError, StateError};
use crate::store::{
    error::{CommitError, LoadError, Unavailable},
    inbox::send::SendError,
};

/// The class of an error of any type; `None` if it is not of a store.
pub(crate) fn class_of(error: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    let class = error.downcast_ref::<EffectError>().map(EffectError::class);
    let class = class.or_else(|| error.downcast_ref::<StateError>().map(StateError::class));
    let class = class.or_else(|| error.downcast_ref::<CommitError>().map(CommitError::class));
    let class = class.or_else(|| error.downcast_ref::<LoadError>().map(LoadError::class));
    let class = class.or_else(|| error.downcast_ref::<SendError>().map(SendError::class));
    class.or_else(|| error.downcast_ref::<Unavailable>().map(Unavailable::class))
}
