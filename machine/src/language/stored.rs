//! Texts of the library that are stored as results and reasons, in English.

use std::borrow::Cow;

use super::{Language, Phrase, fill};

/// The phrases that a stored result or reason can be.
const STORED: &[Phrase] = &[
    Phrase::Approved,
    Phrase::Declined,
    Phrase::NotNeeded,
    Phrase::NotApproved,
    Phrase::NobodyAnswered,
    Phrase::NoAnswerInTime,
    Phrase::ServicePanicked,
    Phrase::AnsweredAfterCutOff,
    Phrase::TimedOut,
    Phrase::CutOffBeforeAnswer,
    Phrase::OutcomeDropped,
    Phrase::ProcessEnded,
    Phrase::LockMissing,
    Phrase::EndedByMove,
    Phrase::NotReported,
];

impl Language {
    /// A stored reason in this language, if it is one of the library's. The words of tools and of
    /// people stay as they are.
    pub(crate) fn stored(self, text: &str) -> Cow<'_, str> {
        if self == Self::English {
            return Cow::Borrowed(text);
        }
        for phrase in STORED {
            let Some(values) = values(phrase.english(), text) else { continue };
            let values: Vec<_> =
                values.into_iter().map(|(name, value)| (name, self.stored(value))).collect();
            return Cow::Owned(fill(self.text(*phrase), |name| {
                let found = values.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| value.clone())
            }));
        }
        Cow::Borrowed(text)
    }
}

/// The values in a text that was made from a template; `None` if it was not.
fn values<'t, 'v>(template: &'t str, text: &'v str) -> Option<Vec<(&'t str, &'v str)>> {
    let Some((before, rest)) = template.split_once('{') else {
        return (template == text).then(Vec::new);
    };
    let (name, rest) = rest.split_once('}')?;
    let text = text.strip_prefix(before)?;
    // The text after a place ends it; after the last place that is the end of the whole.
    let next = rest.split_once('{').map(|(between, _)| between);
    let (value, left) = match next {
        Some(between) => text.split_at(text.find(between)?),
        None => text.split_at(text.len().checked_sub(rest.len()).filter(|_| text.ends_with(rest))?),
    };
    let mut found = vec![(name, value)];
    found.extend(values(rest, left)?);
    Some(found)
}

#[cfg(test)]
mod tests;
