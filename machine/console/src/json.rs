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
mod tests {
    use super::line;

    #[test]
    fn invisible_characters_are_escaped_and_read_back() -> serde_json::Result<()> {
        let text = "a\u{1b}[2J\u{9b}2J\u{202e}\u{e0041}\n\"会议";
        let written = line(&text)?;
        assert_eq!(written, r#""a\u001b[2J\u009b2J\u202e\udb40\udc41\n\"会议""#);
        assert_eq!(serde_json::from_str::<String>(&written)?, text);
        Ok(())
    }
}
