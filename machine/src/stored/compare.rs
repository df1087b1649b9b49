//! The comparison of a stored value with the value that is read back.

use serde::Serialize;
use serde_json::Value;

/// A value, and the value that was read back of it, of a type that may be comparable.
#[derive(Debug)]
pub struct Pair<'a, T>(pub &'a T, pub &'a T);

impl<T: PartialEq + Serialize> Pair<'_, T> {
    /// Returns `true` if the two are not the same. Where both have a NaN, only a difference in what
    /// they write counts.
    #[must_use]
    pub fn differ(self) -> bool {
        self.by_equality().unwrap_or_else(|| written(self.0) != written(self.1))
    }
}

impl<T: PartialEq> Pair<'_, T> {
    /// Returns whether the two differ; `None` if both have a NaN, which differs from itself.
    #[allow(clippy::eq_op, reason = "only a value with a NaN differs from itself")]
    fn by_equality(&self) -> Option<bool> {
        let Self(kept, read) = self;
        let both_differ_from_themselves = kept != kept && read != read;
        (!both_differ_from_themselves).then(|| kept != read)
    }
}

/// A value as JSON, in which the order of a map does not matter.
fn written<T: Serialize>(value: &T) -> Option<Value> {
    serde_json::to_value(value).ok()
}

/// For types without `PartialEq`, which are stored as they are, and for types without `Serialize`,
/// whose fields say how they are written.
pub trait Incomparable: Sized {
    /// Returns `true` if the two are known to differ.
    #[must_use]
    fn differ(self) -> bool {
        false
    }
}

impl<T: PartialEq> Incomparable for Pair<'_, T> {
    fn differ(self) -> bool {
        self.by_equality().unwrap_or(false)
    }
}

// Reached by reference, so only where the other does not fit.
impl<T> Incomparable for &Pair<'_, T> {}
