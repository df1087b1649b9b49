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
    /// A stored reason in this language, if it is one of the library's. The words of tools and of people stay as
    /// they are.
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
mod tests {
    use super::*;

    #[test]
    fn only_the_texts_of_the_library_are_translated() {
        let chinese = |text: &str| Language::Chinese.stored(text).into_owned();
        assert_eq!(chinese("not answered in time"), "无人在规定时间内答复");
        assert_eq!(chinese("not approved: declined"), "未获批准：已拒绝");
        assert_eq!(chinese("not approved: wrong address"), "未获批准：wrong address");
        assert_eq!(chinese("SMTP connection refused"), "SMTP connection refused");
        assert_eq!(Language::English.stored("not approved: declined"), "not approved: declined");
    }

    /// Every text has the places of the English one, and no Latin words: names and commands are in
    /// backticks.
    #[test]
    fn the_chinese_table_is_complete() {
        let places = |text: &str| {
            let mut names: Vec<String> = text
                .split('{')
                .skip(1)
                .filter_map(|rest| Some(rest.split_once('}')?.0.to_owned()))
                .collect();
            names.sort();
            names
        };
        for phrase in Phrase::ALL {
            let (english, chinese) = (phrase.english(), phrase.chinese());
            assert_eq!(places(english), places(chinese), "{phrase:?}");
            let mut bare = chinese.replace("⚠️ IRREVERSIBLE", "");
            for (open, close) in [('{', '}'), ('`', '`')] {
                while let Some(start) = bare.find(open) {
                    let Some(end) = bare[start + 1..].find(close) else { break };
                    bare.replace_range(start..=start + 1 + end, "");
                }
            }
            assert!(!bare.chars().any(|one| one.is_ascii_alphabetic()), "{phrase:?}: {chinese}");
            assert!(!bare.is_ascii(), "{phrase:?}: {chinese}");
        }
    }

    /// The macro stores this one.
    #[test]
    fn the_reason_of_a_timeout_is_known() {
        let source = include_str!("../contract/execution_machine.rs");
        assert!(source.contains(&format!("{:?}.to_owned()", Phrase::NobodyAnswered.english())));
    }
}
