use core::{fmt, ops::Deref};

/// Like that of `alloc`, for a program without an allocator: all of it is borrowed.
pub enum Cow<'a, B: ?Sized> {
    /// In the program.
    Borrowed(&'a B),
    /// Never.
    Owned(Nothing),
}

/// There is no value of it.
#[derive(Debug)]
pub enum Nothing {}

impl Nothing {
    pub(super) const fn as_str(&self) -> &str {
        match *self {}
    }

    pub(super) const fn as_slice<T>(&self) -> &[T] {
        match *self {}
    }
}

impl<B: ?Sized> Clone for Cow<'_, B> {
    fn clone(&self) -> Self {
        match self {
            Self::Borrowed(it) => Self::Borrowed(it),
            Self::Owned(nothing) => match *nothing {},
        }
    }
}

impl<B: ?Sized> Deref for Cow<'_, B> {
    type Target = B;

    fn deref(&self) -> &B {
        match self {
            Self::Borrowed(it) => it,
            Self::Owned(nothing) => match *nothing {},
        }
    }
}

impl<B: ?Sized + fmt::Debug> fmt::Debug for Cow<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<B: ?Sized + fmt::Display> fmt::Display for Cow<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<B: ?Sized + PartialEq> PartialEq for Cow<'_, B> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<B: ?Sized + Eq> Eq for Cow<'_, B> {}

impl PartialEq<str> for Cow<'_, str> {
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}

impl PartialEq<&str> for Cow<'_, str> {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}
