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

/// The question to an approver, made from nothing but the action.
pub(crate) fn question(contract: &Contract) -> String {
    let action = contract.action();
    let call = action.tool();
    let mut text = String::from("Allow ");
    match &call {
        Some(call) => visible(&call.name(), &mut text),
        None => name(&action.action_type().to_string(), &mut text),
    }
    text.push('?');
    if contract.is_irreversible() {
        text.push_str(" It cannot be taken back.");
    }
    if let Some(occurrence) = call.and_then(|call| call.occurrence) {
        text.push_str("\n(occurrence) ");
        visible(occurrence, &mut text);
    }
    describe(action, &mut text);
    text
}

/// The arguments of an action, each on a line, and its digest.
pub(super) fn describe(action: &Action, text: &mut String) {
    let arguments = action.tool().map_or(action.detail(), |call| call.arguments);
    // The text must not depend on the features of `serde_json` that other crates enable.
    let mut arguments: Vec<_> = arguments.iter().collect();
    arguments.sort_by_key(|(name, _)| *name);
    let mut lines = String::new();
    let mut shown = 0;
    for (argument, value) in &arguments {
        if lines.len() > LARGEST {
            break;
        }
        lines.push('\n');
        name(argument, &mut lines);
        lines.push_str(": ");
        // As JSON, line breaks are escaped and quotes cannot be forged.
        cut(&canonical_whole(value), LONGEST, &mut lines);
        shown += 1;
    }
    if shown < arguments.len() {
        // First, so that nobody overlooks it.
        let hidden = arguments.len() - shown;
        let _ = write!(
            text,
            "\nTOO LARGE TO SHOW: {hidden} of {} arguments are missing here.",
            arguments.len()
        );
    }
    text.push_str(&lines);
    let digest = action.digest().to_string();
    let _ = write!(text, "\n[action {}]", &digest[..16]);
}

/// A name of plain letters as it is, any other as a JSON string, so that it forges no line.
fn name(name: &str, text: &mut String) {
    let is_plain = |one: char| one.is_alphanumeric() || matches!(one, '_' | '-');
    if !name.is_empty() && name.chars().all(is_plain) {
        cut(name, LONGEST_NAME, text);
    } else {
        cut(&Value::from(name).to_string(), LONGEST_NAME, text);
    }
}

fn cut(value: &str, longest: usize, text: &mut String) {
    match value.char_indices().nth(longest) {
        None => visible(value, text),
        Some((end, _)) => {
            visible(&value[..end], text);
            let _ = write!(text, "… ({} more characters)", value[end..].chars().count());
        }
    }
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
