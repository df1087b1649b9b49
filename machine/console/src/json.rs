use std::io;

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};

use machine::text::is_invisible;

/// A document on one line. What cannot be seen is escaped, so that it can be shown on a terminal or
/// in a browser; a parser gets the exact text.
pub(crate) fn line(document: &impl Serialize) -> serde_json::Result<String> {
    let mut bytes = Vec::new();
    document.serialize(&mut Serializer::with_formatter(&mut bytes, Visible(CompactFormatter)))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

struct Visible(CompactFormatter);

impl Formatter for Visible {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(is_invisible) {
            self.0.write_string_fragment(writer, &rest[..at])?;
            let mut characters = rest[at..].chars();
            let mut units = [0; 2];
            for unit in characters.next().unwrap_or_default().encode_utf16(&mut units) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = characters.as_str();
        }
        self.0.write_string_fragment(writer, rest)
    }
}

#[cfg(test)]
mod tests;
