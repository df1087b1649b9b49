use std::{collections::BTreeMap, fmt::Write};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Action, shown::shown_arguments};
use crate::{
    journal::{Digest, canonical_whole},
    language::{Language, Phrase},
    legible::Illegible,
};

/// The longest text of one argument in a question, in characters.
const LONGEST: usize = 2000;

const LONGEST_NAME: usize = 200;

/// The size at which a question takes no more arguments, in bytes.
const LARGEST: usize = 20_000;

/// The most hidden parts that a question names.
const NAMED: usize = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// As much as a person reads at a glance. What is hidden is named.
    Short,
    /// All of it.
    Whole,
}

#[derive(Debug, Clone)]
pub(crate) struct Wording {
    pub(super) heading: Heading,
    /// The arguments, each on a line; the same in every language.
    arguments: String,
    digest: Digest,
}

/// The first lines of a question. A gate keeps them, so that its question can be said in any
/// language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Heading {
    /// The tool, or the type of the action, as people read it.
    name: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    irreversible: bool,
    /// The question in the words of the tool, by language; the default is under the empty code.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    worded: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    occurrence: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    hidden: Vec<HiddenPart>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum HiddenPart {
    /// An argument.
    Argument(String),
    /// So many characters of the name of one.
    OfName(usize),
    /// So many characters of the value of one.
    OfValue(usize, String),
    /// So many other parts.
    More(usize),
}

impl Wording {
    pub(super) fn of(
        action: &Action,
        irreversible: bool,
        worded: &BTreeMap<String, String>,
        extent: Extent,
    ) -> Self {
        let call = action.tool();
        let name = match &call {
            Some(call) => visible(&call.name()),
            None => shown_name(&action.action_type().to_string(), extent),
        };
        let (arguments, hidden) = arguments(action, extent);
        let heading = Heading {
            name,
            irreversible,
            worded: worded.clone(),
            occurrence: call.and_then(|call| call.occurrence).map(str::to_owned),
            hidden,
        };
        Self { heading, arguments, digest: action.digest() }
    }

    pub(crate) fn text(&self, language: Language) -> String {
        let mut text = self.heading.text(language);
        text.push_str(&self.arguments);
        text.push('\n');
        text.push_str(&digest_line(&self.digest, language));
        text
    }
}

impl Heading {
    fn worded(&self, language: Language) -> Option<&String> {
        self.worded.get(language.code()).or_else(|| self.worded.get(""))
    }

    fn text(&self, language: Language) -> String {
        let mut text = match self.worded(language) {
            Some(worded) => visible(worded),
            None => language.say(Phrase::Allow, &[("name", &self.name)]),
        };
        if self.irreversible {
            text.push_str(language.text(Phrase::ForGood));
        }
        self.rest(language, &mut text);
        text
    }

    /// The lines after the first one. Their number is the same in every language.
    fn rest(&self, language: Language, text: &mut String) {
        let mut line = |phrase, name: &str, value: &str| {
            text.push('\n');
            text.push_str(&language.say(phrase, &[(name, &value)]));
        };
        if !self.worded.is_empty() {
            line(Phrase::Tool, "name", &self.name);
        }
        if let Some(occurrence) = &self.occurrence {
            line(Phrase::Occurrence, "name", &visible(occurrence));
        }
        if !self.hidden.is_empty() {
            // First, so that it is not overlooked.
            line(Phrase::NotShown, "parts", &not_shown(&self.hidden, language));
        }
    }

    /// A question with this heading in another language. Its last line is the digest of the action.
    pub(super) fn translate(&self, question: &str, digest: &Digest, language: Language) -> String {
        Self::after_heading(self.text(language), question, digest, language)
    }

    /// The question to a person who declines: the first line says what `y` means.
    pub(super) fn declining(&self, question: &str, digest: &Digest, language: Language) -> String {
        let mut text = language.say(Phrase::DeclineQuestion, &[("name", &self.name)]);
        self.rest(language, &mut text);
        Self::after_heading(text, question, digest, language)
    }

    /// The arguments of a question below another heading.
    fn after_heading(
        mut text: String,
        question: &str,
        digest: &Digest,
        language: Language,
    ) -> String {
        let arguments = question.lines().skip(text.lines().count());
        let mut arguments: Vec<_> = arguments.collect();
        arguments.pop();
        for line in arguments {
            text.push('\n');
            text.push_str(line);
        }
        text.push('\n');
        text.push_str(&digest_line(digest, language));
        text
    }
}

fn digest_line(digest: &Digest, language: Language) -> String {
    language.say(Phrase::ActionDigest, &[("digest", &&digest.to_string()[..16])])
}

/// The first line of a question that shows arguments; `None` of any other text. It is empty if it
/// is in the words of the tool, which may quote arguments: then a line with the name of the tool
/// follows.
#[must_use]
pub fn without_arguments(question: &str, language: Language) -> Option<&str> {
    let (first, rest) = question.split_once('\n')?;
    let is_worded = [Language::English, language].into_iter().any(|language| {
        let before = language.text(Phrase::Tool).split_once('{').map_or("", |(before, _)| before);
        rest.starts_with(before)
    });
    let last = rest.lines().last()?;
    let is_digest = [Language::English, language].into_iter().any(|language| {
        let parts = language.text(Phrase::ActionDigest).split_once("{digest}");
        parts.is_some_and(|(before, after)| last.starts_with(before) && last.ends_with(after))
    });
    is_digest.then_some(if is_worded { "" } else { first })
}

fn not_shown(hidden: &[HiddenPart], language: Language) -> String {
    let mut text = String::new();
    for (place, part) in hidden.iter().enumerate() {
        let said = match part {
            HiddenPart::Argument(name) => name.clone(),
            HiddenPart::OfName(count) => language.say(Phrase::HiddenOfName, &[("count", count)]),
            HiddenPart::OfValue(count, name) => {
                language.say(Phrase::HiddenOf, &[("count", count), ("name", name)])
            }
            HiddenPart::More(count) => language.say(Phrase::AndMore, &[("count", count)]),
        };
        if place > 0 && !matches!(part, HiddenPart::More(_)) {
            text.push_str(", ");
        }
        text.push_str(&said);
    }
    text
}

/// The arguments of an action, each on a line, and its digest.
pub(super) fn describe(action: &Action, extent: Extent, language: Language, text: &mut String) {
    let (arguments, hidden) = arguments(action, extent);
    if !hidden.is_empty() {
        let parts = not_shown(&hidden, language);
        let _ = write!(text, "\n{}", language.say(Phrase::NotShown, &[("parts", &parts)]));
    }
    text.push_str(&arguments);
    let _ = write!(text, "\n{}", digest_line(&action.digest(), language));
}

/// The arguments of an action, each on a line after a line break, and what of them is hidden.
/// Secrets are shown by their digests.
fn arguments(action: &Action, extent: Extent) -> (String, Vec<HiddenPart>) {
    let arguments = shown_arguments(action);
    // The text must not depend on the features of `serde_json` that other crates enable.
    let mut arguments: Vec<_> = arguments.iter().collect();
    arguments.sort_by_key(|(name, _)| *name);
    let mut lines = String::new();
    let mut hidden = Vec::new();
    for (argument, value) in &arguments {
        if extent == Extent::Short && lines.len() > LARGEST {
            hidden.push(HiddenPart::Argument(shown_name(argument, extent)));
            continue;
        }
        lines.push('\n');
        let of_name = name(argument, extent, &mut lines);
        if of_name > 0 {
            hidden.push(HiddenPart::OfName(of_name));
        }
        lines.push_str(": ");
        // As JSON, line breaks are escaped and quotes cannot be forged.
        let of_value = cut(&canonical_whole(value), extent.of(LONGEST), &mut lines);
        if of_value > 0 {
            hidden.push(HiddenPart::OfValue(of_value, shown_name(argument, extent)));
        }
    }
    let more = hidden.len().saturating_sub(NAMED);
    if more > 0 {
        hidden.truncate(NAMED);
        hidden.push(HiddenPart::More(more));
    }
    (lines, hidden)
}

impl Extent {
    fn of(self, longest: usize) -> usize {
        match self {
            Self::Short => longest,
            Self::Whole => usize::MAX,
        }
    }
}

fn shown_name(text: &str, extent: Extent) -> String {
    let mut shown = String::new();
    name(text, extent, &mut shown);
    shown
}

/// A name of plain letters as it is, any other as a JSON string, so that it forges no line. Returns
/// the number of characters that it leaves out.
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
        text.push_str(&visible(value));
        return 0;
    };
    text.push_str(&visible(&value[..end]));
    let more = value[end..].chars().count();
    // Identical in every language.
    let _ = write!(text, "… (+{more})");
    more
}

/// Text that shows what it is: characters that cannot be seen, and those that look like others, are
/// escaped. See [`Illegible`].
pub(crate) fn visible(text: &str) -> String {
    let marks = Illegible::of(text);
    let mut shown = String::with_capacity(text.len());
    for (number, character) in text.chars().enumerate() {
        if marks.has(number) {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown
}
