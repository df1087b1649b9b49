//! The language of what a model or an approver reads: the prompt, summaries and questions.

mod phrase;
mod stored;

use std::{
    borrow::Cow,
    fmt::{self, Display},
    str::FromStr,
};

use serde::{Serialize, Serializer};

pub use phrase::Phrase;

/// The language of the prompt, of summaries and questions, and of results and reasons in them. All
/// other texts are English; labels and names are the same in every language, so that a program can
/// rely on them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Simplified Chinese.
    Chinese,
}

impl Language {
    /// All languages.
    pub const ALL: [Self; 2] = [Self::English, Self::Chinese];

    /// The code by which tools know it, such as `zh`.
    #[must_use]
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
        }
    }

    /// A text of the library in this language, with `{name}` in the place of values.
    #[must_use]
    pub fn text(self, phrase: Phrase) -> &'static str {
        match self {
            Self::English => phrase.english(),
            Self::Chinese => phrase.chinese(),
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

/// Reads the code of a language such as `zh`, also with a region: `zh-CN`.
impl FromStr for Language {
    type Err = UnknownLanguage;

    fn from_str(text: &str) -> Result<Self, UnknownLanguage> {
        let code = text.split(['-', '_']).next().unwrap_or_default();
        let mut languages = Self::ALL.into_iter();
        languages.find(|known| code.eq_ignore_ascii_case(known.code())).ok_or(UnknownLanguage)
    }
}
