//! Text from outside, made safe for one line of a prompt or of a terminal.

use std::fmt::{self, Write};

use super::Label;
use crate::actor::is_invisible;

/// Text that cannot leave its line, and cannot look like a label: line breaks, control characters and
/// characters that are not seen are escaped, and so is a `[` before the word of a label.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OneLine<'a>(pub(crate) &'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.chars();
        while let Some(character) = rest.next() {
            if is_invisible(character) {
                write!(f, "{}", character.escape_default())?;
            } else if character == '[' && is_label(rest.as_str()) {
                f.write_str("\\[")?;
            } else {
                f.write_char(character)?;
            }
        }
        Ok(())
    }
}

/// Whether a text begins with the word of a label.
fn is_label(text: &str) -> bool {
    let text = text.trim_start();
    Label::ALL.iter().any(|label| {
        let word = label.as_str();
        text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
    })
}

/// At most this many characters of a text, with `…` in place of the rest.
pub(crate) fn cut(text: &str, longest: usize) -> std::borrow::Cow<'_, str> {
    match text.char_indices().nth(longest) {
        None => text.into(),
        Some((end, _)) => format!("{}…", &text[..end]).into(),
    }
}
