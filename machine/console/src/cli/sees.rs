use machine::view::{self, Diagnostic, Hidden, Human, Internal, Shown};

/// Reads the restricted fields of views in code that is generic over the audience.
pub(super) trait Sees: view::Audience {
    /// The field, if this audience sees it.
    fn diagnostic<T: Shown>(field: &Self::Diagnostic<T>) -> Option<&T>;

    /// The field, if this audience sees it.
    fn internal<T: Shown>(field: &Self::Internal<T>) -> Option<&T>;
}

impl Sees for Human {
    fn diagnostic<T: Shown>(_: &Hidden) -> Option<&T> {
        None
    }

    fn internal<T: Shown>(_: &Hidden) -> Option<&T> {
        None
    }
}

impl Sees for Diagnostic {
    fn diagnostic<T: Shown>(field: &T) -> Option<&T> {
        Some(field)
    }

    fn internal<T: Shown>(_: &Hidden) -> Option<&T> {
        None
    }
}

impl Sees for Internal {
    fn diagnostic<T: Shown>(field: &T) -> Option<&T> {
        Some(field)
    }

    fn internal<T: Shown>(field: &T) -> Option<&T> {
        Some(field)
    }
}
