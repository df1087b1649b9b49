//! The comparison of a stored value with the value that is read back.

/// A value, and the value that was read back of it, of a type that may be comparable.
#[derive(Debug)]
pub struct Pair<'a, T>(pub &'a T, pub &'a T);

impl<T: PartialEq> Pair<'_, T> {
    /// Returns `true` if the two are not the same. Both may have a NaN, which differs from itself.
    #[must_use]
    #[allow(clippy::eq_op, reason = "only a value with a NaN differs from itself")]
    pub fn differ(self) -> bool {
        let Self(kept, read) = self;
        kept != read && (kept == kept || read == read)
    }
}

/// For types without `PartialEq`, which are stored as they are.
pub trait Incomparable: Sized {
    /// Returns `false`: nothing can be said.
    #[must_use]
    fn differ(self) -> bool {
        false
    }
}

impl<T> Incomparable for Pair<'_, T> {}
