//! The language of what a model or an approver reads: the prompt, summaries and questions.

mod phrase;
mod stored;

use std::{
    borrow::Cow,
    fmt::{self, Display},
    hash::{Hash, Hasher},
    str::FromStr,
};

use serde::{Serialize, Serializer};

pub use phrase::Phrase;

/// The language of the prompt, of summaries and questions, and of results and reasons in them. All
/// other texts are English; labels and names are the same in every language, so that a program can
/// rely on them.
///
/// A program adds its own with [`other`](Self::other):
///
/// ```
/// use machine::view::{Language, Phrase};
///
/// const GERMAN: Language = Language::other("de", |phrase| {
///     Some(match phrase {
///         Phrase::Approved => "genehmigt",
///         Phrase::TookPlace => "es ist geschehen: {receipt}",
///         _ => return None, // in English
///     })
/// });
/// assert_eq!(GERMAN.text(Phrase::Approved), "genehmigt");
/// assert_eq!(GERMAN.text(Phrase::Declined), "declined");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Simplified Chinese.
    Chinese,
    /// A language of the program: see [`Language::other`].
    Other(OtherLanguage),
}

/// A language that a program has added: see [`Language::other`]. Two with the same code are the
/// same.
#[derive(Clone, Copy)]
pub struct OtherLanguage {
    code: &'static str,
    texts: fn(Phrase) -> Option<&'static str>,
}

impl Language {
    /// The languages of the library.
    pub const ALL: [Self; 2] = [Self::English, Self::Chinese];

    /// A language of the program, with the code by which its tools know it, and its texts. What it
    /// does not have is in English. A text has the same `{names}` as the English one.
    #[must_use]
    pub const fn other(code: &'static str, texts: fn(Phrase) -> Option<&'static str>) -> Self {
        Self::Other(OtherLanguage { code, texts })
    }

    /// The code by which tools know it, such as `zh`.
    #[must_use]
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
            Self::Other(other) => other.code,
        }
    }

    /// A text of the library in this language, with `{name}` in the place of values.
    #[must_use]
    pub fn text(self, phrase: Phrase) -> &'static str {
        match self {
            Self::English => phrase.english(),
            Self::Chinese => phrase.chinese(),
            Self::Other(other) => (other.texts)(phrase).unwrap_or(phrase.english()),
        }
    }

    /// A text of the library with values in the place of their names. A name without a value stays
    /// as it is.
    pub(crate) fn say(self, phrase: Phrase, values: &[(&str, &dyn Display)]) -> String {
        fill(self.text(phrase), |name| {
            let found = values.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| Cow::Owned(value.to_string()))
        })
    }
}

/// Fills the places of a template, such as `{name}`. Each is filled once, so that a value cannot
/// bring places of its own; one without a value stays as it is.
pub(crate) fn fill<'v>(template: &str, value: impl Fn(&str) -> Option<Cow<'v, str>>) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let found = after.split_once('}').and_then(|(name, rest)| Some((value(name)?, rest)));
        rest = if let Some((value, after)) = found {
            text.push_str(&value);
            after
        } else {
            text.push('{');
            after
        };
    }
    text.push_str(rest);
    text
}

impl PartialEq for OtherLanguage {
    fn eq(&self, other: &Self) -> bool {
        self.code == other.code
    }
}

impl Eq for OtherLanguage {}

impl Hash for OtherLanguage {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.code.hash(state);
    }
}

impl fmt::Debug for OtherLanguage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code)
    }
}

impl Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

impl Serialize for Language {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

/// The text is not the code of a language.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown language; use `en` or `zh`")]
#[non_exhaustive]
pub struct UnknownLanguage;

/// Reads the code of a language of the library such as `zh`, also with a region: `zh-CN`.
impl FromStr for Language {
    type Err = UnknownLanguage;

    fn from_str(text: &str) -> Result<Self, UnknownLanguage> {
        let code = text.split(['-', '_']).next().unwrap_or_default();
        let mut languages = Self::ALL.into_iter();
        languages.find(|known| code.eq_ignore_ascii_case(known.code())).ok_or(UnknownLanguage)
    }
}
