//! External tests of the library, one folder per module. This crate holds the shared helpers.
#![allow(clippy::unwrap_used, clippy::missing_errors_doc, clippy::missing_panics_doc)]

use machine::{
    actor::Human,
    contract::{Decision, Gate},
    effects::Decide,
    store::{CommitError, Store},
    typed::Refused,
    view::{Language, Phrase},
};

pub mod actors;
pub mod cluster;
pub mod forge;
pub mod samples;

/// Asserts that a result is an error that matches the pattern; otherwise prints the result.
#[macro_export]
macro_rules! assert_err {
    ($result:expr, $pattern:pat $(if $guard:expr)? $(,)?) => {
        match &$result {
            Err($pattern) $(if $guard)? => {}
            other => panic!("expected Err({}), found {other:?}", stringify!($pattern)),
        }
    };
}

/// Approves what a person has seen whole.
pub async fn approve(
    store: &Store,
    gate: Gate,
    by: &Human,
) -> Result<Decision, Refused<Gate, CommitError>> {
    let shown = gate.whole_question().unwrap().digest;
    store.approve(gate, shown, by).await
}

/// The same as a part of a batch.
#[must_use]
pub fn approval(gate: Gate, by: &Human) -> Decide {
    let shown = gate.whole_question().unwrap().digest;
    Decide::approve(gate, shown, by)
}

/// The lines of a prompt without its headings and its end.
#[must_use]
pub fn prompt_lines(prompt: &str) -> Vec<&str> {
    let of_section = [
        Phrase::ResultsHeading,
        Phrase::AnswersHeading,
        Phrase::OpenHeading,
        Phrase::GoOn,
        Phrase::IrreversibleNote,
    ];
    let is_of_section = |line: &str| {
        let texts = Language::ALL.into_iter();
        let mut texts = texts.flat_map(|language| of_section.map(|phrase| language.text(phrase)));
        line.is_empty() || texts.any(|text| text == line)
    };
    prompt.split('\n').filter(|line| !is_of_section(line)).collect()
}
