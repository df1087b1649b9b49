//! Text from outside, made safe for one line of a prompt or of a terminal.

use std::fmt::{self, Write};

use unicode_script::UnicodeScript;

use crate::legible::{Illegible, is_east_asian};

/// Text that cannot leave its line, and cannot look like a label or a mark of a view, nor like
/// another name: line breaks, characters that are not seen and those that look like others are
/// escaped, and so is what begins like one of ours.
#[derive(Debug, Clone, Copy)]
pub struct OneLine<'a>(pub &'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let marks = Illegible::of(self.0);
        let mut rest = self.0.chars();
        let mut number = 0;
        while let Some(character) = rest.next() {
            write_one(character, marks.has(number), rest.as_str(), f)?;
            number += 1;
        }
        Ok(())
    }
}

/// Like [`OneLine`], truncated with `…` to a maximum length. The length is that of the escaped
/// text, in characters, so that escapes cannot make it longer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Within<'a>(pub(crate) &'a str, pub(crate) usize);

impl fmt::Display for Within<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(text, longest) = *self;
        let mut left = longest;
        let end = text.char_indices().nth(longest).map_or(text.len(), |(end, _)| end);
        let marks = Illegible::of(&text[..end]);
        let mut rest = text.chars();
        let mut number = 0;
        let mut escaped = String::new();
        while let Some(character) = rest.next() {
            escaped.clear();
            write_one(character, marks.has(number), rest.as_str(), &mut escaped)?;
            number += 1;
            let Some(after) = left.checked_sub(escaped.chars().count()) else {
                return f.write_str("…");
            };
            left = after;
            f.write_str(&escaped)?;
        }
        Ok(())
    }
}

fn write_one(character: char, is_marked: bool, rest: &str, out: &mut impl Write) -> fmt::Result {
    if imitates(character, rest) {
        match character {
            '⚠' => write!(out, "{}", character.escape_unicode()),
            bracket => write!(out, "\\{bracket}"),
        }
    } else if is_marked {
        write!(out, "{}", character.escape_default())
    } else {
        out.write_char(character)
    }
}

/// Returns `true` if a character, with the text after it, looks like the beginning of a label or a
/// mark.
pub(crate) fn imitates(character: char, rest: &str) -> bool {
    if character == '⚠' {
        return looks_like(rest, IRREVERSIBLE);
    }
    // An empty list. What comes next is not in these brackets.
    let is_empty = character == '[' && rest == "]";
    // One that is too short to tell may become a label.
    let may_become = |label| begins(rest, label).unwrap_or(true);
    let is_label = is_square(character) && LABELS.into_iter().any(may_become);
    let is_confirmed = (is_square(character) || is_round(character)) && looks_like(rest, CONFIRMED);
    !is_empty && (is_label || is_confirmed)
}

/// The marks of a line, in addition to its label.
const IRREVERSIBLE: &str = "IRREVERSIBLE";
const CONFIRMED: &str = "human-confirmed";

/// The words of [labels](crate::view::Label), in their order.
pub(crate) const LABELS: [&str; 11] = [
    "CONTRADICTED",
    "IN_DOUBT",
    "UNCONFIRMED",
    "WAITING",
    "IN_PROGRESS",
    "DEFERRED",
    "NOT_STARTED",
    "FAILED",
    "REJECTED",
    "CANCELLED",
    "SUCCESS",
];

/// `[`, and what looks like it.
fn is_square(character: char) -> bool {
    matches!(
        character,
        '[' | '\u{2045}'
            | '\u{2308}'
            | '\u{230a}'
            | '\u{23a1}'
            | '\u{2772}'
            | '\u{27e6}'
            | '\u{298b}'
            | '\u{298d}'
            | '\u{298f}'
            | '\u{300c}'
            | '\u{300e}'
            | '\u{3010}'
            | '\u{3014}'
            | '\u{3016}'
            | '\u{3018}'
            | '\u{301a}'
            | '\u{fe39}'
            | '\u{fe3b}'
            | '\u{fe47}'
            | '\u{fe5d}'
            | '\u{ff3b}'
    )
}

/// `(`, and what looks like it.
fn is_round(character: char) -> bool {
    matches!(
        character,
        '(' | '\u{207d}'
            | '\u{2768}'
            | '\u{276a}'
            | '\u{2985}'
            | '\u{fe35}'
            | '\u{fe59}'
            | '\u{ff08}'
    )
}

/// The maximum number of characters between a bracket and the end of a word that looks like ours.
const NEAR: usize = 64;

/// Returns whether a text begins like one of our words.
fn looks_like(text: &str, word: &str) -> bool {
    begins(text, word).unwrap_or(false)
}

/// Returns whether a text begins like a word; `None` if it is too short to tell. Ignores case,
/// characters other than letters and digits, and the alphabet of a letter; Chinese, Japanese and
/// Korean letters do not look like ours.
fn begins(text: &str, word: &str) -> Option<bool> {
    let mut wanted = word.chars().filter(char::is_ascii_alphabetic);
    let mut next = wanted.next();
    for found in text.chars().take(NEAR) {
        let Some(letter) = next else { return Some(true) };
        if found.is_alphanumeric() {
            let alike = !found.is_ascii() && !is_east_asian(found.script());
            if !alike && !found.eq_ignore_ascii_case(&letter) {
                return Some(false);
            }
            next = wanted.next();
        }
    }
    let ends = text.chars().nth(NEAR).is_none();
    if next.is_some() && ends { None } else { Some(next.is_none()) }
}
