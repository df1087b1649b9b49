use alloc::sync::Arc;
use core::{error::Error, fmt};

/// The name of an actor: a line of visible text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name(Arc<str>);

/// A name is not a line of visible text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidName {
    /// It is empty, or nothing but spaces.
    Empty,
    /// It is longer than [`InvalidName::MAX_BYTES`].
    TooLong,
    /// It has a character that cannot be seen, such as a control character or a bidirectional mark.
    Invisible(char),
}

impl InvalidName {
    /// The maximum length of a name in bytes.
    pub const MAX_BYTES: usize = 200;
}

impl Name {
    pub(crate) fn new(name: &str) -> Result<Self, InvalidName> {
        if name.trim().is_empty() {
            return Err(InvalidName::Empty);
        }
        if name.len() > InvalidName::MAX_BYTES {
            return Err(InvalidName::TooLong);
        }
        match name.chars().find(|character| is_invisible(*character)) {
            Some(character) => Err(InvalidName::Invisible(character)),
            None => Ok(Self(name.into())),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Control characters, and characters that are not shown or that change how others are shown: line
/// and paragraph separators, bidirectional controls, joiners, fillers, variation selectors and tags.
#[must_use]
pub(crate) fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}' | '\u{1160}'
                | '\u{17b4}' | '\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{2800}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0e}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

impl fmt::Display for InvalidName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the name is empty; pass a name"),
            Self::TooLong => {
                write!(f, "the name is longer than {} bytes; shorten it", Self::MAX_BYTES)
            }
            Self::Invisible(character) => write!(
                f,
                "the name has the invisible character {}; remove it",
                character.escape_unicode()
            ),
        }
    }
}

impl Error for InvalidName {}
