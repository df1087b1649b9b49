//! The texts that a refusal keeps.

use core::fmt;

#[cfg(feature = "alloc")]
pub(super) type Words = alloc::string::String;

/// What a program without an allocator keeps of a text.
#[cfg(not(feature = "alloc"))]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words;

#[cfg(not(feature = "alloc"))]
impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

#[cfg(feature = "alloc")]
pub(super) fn keep(text: &dyn fmt::Display) -> Words {
    alloc::string::ToString::to_string(text)
}

#[cfg(not(feature = "alloc"))]
pub(super) fn keep(_: &dyn fmt::Display) -> Words {
    Words
}
