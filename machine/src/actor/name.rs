#[cfg(feature = "alloc")]
use alloc::{string::String, sync::Arc};
use core::{error::Error, fmt};

#[cfg(feature = "alloc")]
use unicode_normalization::UnicodeNormalization;

/// The name of an actor: a line of visible text, in its normal form.
///
/// Names that look the same are the same: compatibility characters such as full-width letters are
/// replaced by the plain ones (NFKC), spaces of any kind by one plain space, spaces at both ends
/// and the selector U+FE0F are removed. Other invisible characters are refused. Letters of other
/// alphabets that look alike stay what they are, and are escaped where people read them.
#[cfg(feature = "alloc")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name(Arc<str>);

/// A program without an allocator has no names.
#[cfg(not(feature = "alloc"))]
#[derive(Debug, Clone)]
pub(crate) enum Name {}

#[cfg(not(feature = "alloc"))]
impl Name {
    pub(crate) fn as_str(&self) -> &str {
        match *self {}
    }
}

/// A name is not a line of visible text.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidName {
    /// It is empty or blank.
    Empty,
    /// It is longer than 200 bytes.
    TooLong,
    /// It has a character that cannot be seen, such as a control character or a bidirectional mark.
    Invisible(char),
}

/// The maximum length of a name in bytes.
const MAX_BYTES: usize = 200;

#[cfg(feature = "alloc")]
impl Name {
    pub(crate) fn new(name: &str) -> Result<Self, InvalidName> {
        if name.trim().is_empty() {
            return Err(InvalidName::Empty);
        }
        if name.len() > MAX_BYTES {
            return Err(InvalidName::TooLong);
        }
        if let Some(character) = name.chars().find(|character| is_invisible(*character)) {
            return Err(InvalidName::Invisible(character));
        }
        let name = normal(name);
        match name.len() {
            0 => Err(InvalidName::Empty),
            1..=MAX_BYTES => Ok(Self(name.into())),
            _ => Err(InvalidName::TooLong),
        }
    }

    /// Returns `true` if this is a name in its normal form.
    #[cfg(feature = "durable")]
    pub(crate) fn is_normal(name: &str) -> bool {
        Self::new(name).is_ok_and(|normal| normal.as_str() == name)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The form in which names are compared.
#[cfg(feature = "alloc")]
fn normal(name: &str) -> String {
    let mut normal = String::with_capacity(name.len());
    for character in name.chars().filter(|character| *character != '\u{fe0f}').nfkc() {
        if !character.is_whitespace() {
            normal.push(character);
        } else if !normal.is_empty() && !normal.ends_with(' ') {
            normal.push(' ');
        }
    }
    normal.truncate(normal.trim_end().len());
    normal
}

/// Control characters, and characters that are not shown or that change how others are shown: line
/// and paragraph separators, bidirectional controls, joiners, fillers, variation selectors and
/// tags.
#[must_use]
pub fn is_invisible(character: char) -> bool {
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
                | '\u{fff0}'..='\u{fffc}'
                | '\u{13430}'..='\u{1343f}'
                | '\u{16fe4}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d159}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

impl fmt::Display for InvalidName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the name is empty; pass a name"),
            Self::TooLong => {
                write!(f, "the name is longer than {MAX_BYTES} bytes; shorten it")
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
