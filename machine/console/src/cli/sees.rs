//! The restricted fields of views, in code that is generic over the audience.

use std::any::Any;

use machine::view::{Audience, Shown};

/// The field, if this audience sees it.
pub(super) fn diagnostic<A: Audience, T: Shown>(field: &A::Diagnostic<T>) -> Option<&T> {
    (field as &dyn Any).downcast_ref()
}

/// The field, if this audience sees it.
pub(super) fn internal<A: Audience, T: Shown>(field: &A::Internal<T>) -> Option<&T> {
    (field as &dyn Any).downcast_ref()
}
