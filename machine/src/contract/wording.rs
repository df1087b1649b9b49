use std::fmt::Write;

use serde_json::Value;

use super::{Action, Contract};
use crate::{journal::canonical_whole, legible::Marks};

/// The longest text of one argument in a question, in characters.
const LONGEST: usize = 2000;

/// The longest name of an argument, in characters.
const LONGEST_NAME: usize = 200;

/// The size at which a question takes no more arguments, in bytes.
const LARGEST: usize = 20_000;

/// The most hidden parts that a question names.
const NAMED: usize = 10;

/// The extent to which a text has the arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// As much as a person reads at a glance. What is hidden is named.
    Short,
    /// All of it.
    Whole,
}

/// The text before the name of the action in a question.
const ALLOW: &str = "Allow ";

/// The text after it, if the action is irreversible.
const FOR_GOOD: &str = " It cannot be taken back.";

/// The question to an approver, made from nothing but the action.
pub(crate) fn question(contract: &Contract, extent: Extent) -> String {
    let action = contract.action();
    let call = action.tool();
    let mut text = String::from(ALLOW);
    match &call {
        Some(call) => visible(&call.name(), &mut text),
        None => {
            name(&action.action_type().to_string(), extent, &mut text);
        }
    }
    text.push('?');
    if contract.is_irreversible() {
        text.push_str(FOR_GOOD);
    }
    if let Some(occurrence) = call.and_then(|call| call.occurrence) {
        text.push_str("\n(occurrence) ");
        visible(occurrence, &mut text);
    }
    describe(action, extent, &mut text);
    text
}

/// The same to a person who declines: what `y` means is in the first line.
#[cfg(feature = "cli")]
pub(crate) fn declining(question: &str) -> String {
    let (first, rest) = question.split_once('\n').unwrap_or((question, ""));
    let first = first.strip_suffix(FOR_GOOD).unwrap_or(first);
    let name = first.strip_prefix(ALLOW).and_then(|it| it.strip_suffix('?')).unwrap_or("this");
    format!("Decline {name}? It never runs.\n{rest}")
}

/// The arguments of an action, each on a line, and its digest.
pub(super) fn describe(action: &Action, extent: Extent, text: &mut String) {
    let arguments = action.tool().map_or(action.detail(), |call| call.arguments);
    // The text must not depend on the features of `serde_json` that other crates enable.
    let mut arguments: Vec<_> = arguments.iter().collect();
    arguments.sort_by_key(|(name, _)| *name);
    let mut lines = String::new();
    let mut hidden = Vec::new();
    for (argument, value) in &arguments {
        if extent == Extent::Short && lines.len() > LARGEST {
            hidden.push(shown_name(argument));
            continue;
        }
        lines.push('\n');
        let of_name = name(argument, extent, &mut lines);
        if of_name > 0 {
            hidden.push(format!("{of_name} characters of a name"));
        }
        lines.push_str(": ");
        // As JSON, line breaks are escaped and quotes cannot be forged.
        let of_value = cut(&canonical_whole(value), extent.of(LONGEST), &mut lines);
        if of_value > 0 {
            hidden.push(format!("{of_value} characters of {}", shown_name(argument)));
        }
    }
    if !hidden.is_empty() {
        // First, so that nobody overlooks it.
        let named = hidden.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
        let _ = write!(text, "\nNOT SHOWN HERE: {named}");
        if hidden.len() > NAMED {
            let _ = write!(text, ", and {} more", hidden.len() - NAMED);
        }
    }
    text.push_str(&lines);
    let digest = action.digest().to_string();
    let _ = write!(text, "\n[action {}]", &digest[..16]);
}

impl Extent {
    fn of(self, longest: usize) -> usize {
        match self {
            Self::Short => longest,
            Self::Whole => usize::MAX,
        }
    }
}

fn shown_name(argument: &str) -> String {
    let mut shown = String::new();
    name(argument, Extent::Short, &mut shown);
    shown
}

/// A name of plain letters as it is, any other as a JSON string, so that it forges no line. Returns the
/// number of characters that it leaves out.
fn name(name: &str, extent: Extent, text: &mut String) -> usize {
    let is_plain = |one: char| one.is_alphanumeric() || matches!(one, '_' | '-');
    let longest = extent.of(LONGEST_NAME);
    if !name.is_empty() && name.chars().all(is_plain) {
        cut(name, longest, text)
    } else {
        cut(&Value::from(name).to_string(), longest, text)
    }
}

/// Writes the beginning of a text, and returns the number of characters that it leaves out.
fn cut(value: &str, longest: usize, text: &mut String) -> usize {
    let Some((end, _)) = value.char_indices().nth(longest) else {
        visible(value, text);
        return 0;
    };
    visible(&value[..end], text);
    let more = value[end..].chars().count();
    let _ = write!(text, "… ({more} more characters)");
    more
}

/// Writes text so that it shows what it is: characters that cannot be seen, and those that look like
/// others, are escaped. See [`Marks`].
pub(crate) fn visible(text: &str, out: &mut String) {
    let marks = Marks::of(text);
    for (number, character) in text.chars().enumerate() {
        if marks.has(number) {
            let _ = write!(out, "{}", character.escape_unicode());
        } else {
            out.push(character);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn what_cannot_be_seen_is_escaped() {
        for (text, shown) in [
            ("bob@example.com", "bob@example.com"),
            ("会议 invitation", "会议 invitation"),
            ("会议v2", "会议v2"),
            ("привет мир", "привет мир"),
            ("p\u{430}ypal.com", r"p\u{430}ypal.com"),
            ("bob\u{202e}moc", r"bob\u{202e}moc"),
            ("a\u{200b}b", r"a\u{200b}b"),
            ("a\nb", r"a\u{a}b"),
            ("a\u{a0}b", r"a\u{a0}b"),
            ("a  b", "a  b"),
            ("\u{1b}[2J", r"\u{1b}[2J"),
        ] {
            let mut out = String::new();
            visible(text, &mut out);
            assert_eq!(out, shown, "{text:?}");
        }
    }
}
