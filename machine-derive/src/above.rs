//! Derives above `#[machine]`.
//!
//! The compiler expands them first, for the enum that the attribute replaces, and does not pass
//! them on. Only the source text still has them. It is read to explain what the compiler would
//! report a dozen times, and for nothing else: no expansion depends on it.

use std::fs;

pub(crate) fn has_derive() -> bool {
    // Without a compiler, as in the tests of this crate, there is no text.
    if !proc_macro::is_available() {
        return false;
    }
    let here = proc_macro::Span::call_site();
    let text = here.local_file().and_then(|file| fs::read_to_string(file).ok());
    text.is_some_and(|text| is_above(&text, here.line(), here.column()))
}

/// Looks for a derive among the attributes before a position, which counts from 1.
fn is_above(text: &str, line: usize, column: usize) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    let before = lines.get(..line.saturating_sub(1)).unwrap_or_default().iter();
    let this = lines.get(line.saturating_sub(1)).copied().unwrap_or_default();
    let this: String = this.chars().take(column.saturating_sub(1)).collect();
    let is_comment = |line: &&&str| line.trim_start().starts_with("//");
    let mut rest: Vec<&str> = before.filter(|line| !is_comment(line)).copied().collect();
    rest.push(&this);
    let mut rest = rest.join("\n");
    while let Some(start) = last_attribute(&rest) {
        let words = rest[start..].trim_start_matches(['#', '[', ' ']);
        if words.starts_with("derive") {
            return true;
        }
        rest.truncate(start);
    }
    false
}

/// The start of the attribute at the end of the text.
fn last_attribute(text: &str) -> Option<usize> {
    let text = text.trim_end();
    text.strip_suffix(']')?;
    let mut open = 0_usize;
    for (place, sign) in text.char_indices().rev() {
        match sign {
            ']' => open += 1,
            '[' => open = open.checked_sub(1)?,
            _ => {}
        }
        if open == 0 {
            return text[..place].trim_end().strip_suffix('#').map(str::len);
        }
    }
    None
}
