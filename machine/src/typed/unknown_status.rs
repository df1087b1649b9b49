use core::fmt;

use super::words::{Words, keep};
use crate::definition::Definition;

/// The text is not the name of a state.
#[derive(Clone, PartialEq, Eq)]
pub struct UnknownStatus {
    definition: &'static Definition,
    text: Words,
}

impl UnknownStatus {
    #[doc(hidden)]
    #[must_use]
    pub fn __new(definition: &'static Definition, text: &str) -> Self {
        // The error quotes at most 40 characters of external input.
        let end = text.char_indices().nth(40).map_or(text.len(), |(end, _)| end);
        Self { definition, text: keep(&&text[..end]) }
    }
}

impl fmt::Display for UnknownStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { definition, text } = self;
        write!(f, "`{text}` is not a state of `{}`; the states are", definition.name)?;
        for (position, state) in definition.states.iter().enumerate() {
            let separator = if position == 0 { " " } else { ", " };
            write!(f, "{separator}{}", state.name)?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownStatus {}
