//! External tests of the library, one folder per module. This crate holds the shared helpers.
#![allow(clippy::unwrap_used, clippy::missing_errors_doc, clippy::missing_panics_doc)]

use std::{process::Command, time::Duration};

use machine::{
    actor::Human,
    contract::{
        Action, CallFact, Decision, Evidence, Execution, Gate, Permit, Planned, Settled, Unsettled,
        execution::Running,
    },
    effects::{Change, EffectError},
    store::Store,
    stored::History,
    typed::Refused,
    view::{Language, Phrase},
};
use tokio::sync::Notify;

pub mod actors;
pub mod book;
pub mod cluster;
pub mod forge;
pub mod hand;
pub mod invoked;
pub mod oracle;
#[cfg(unix)]
pub mod process;
pub mod random;
pub mod samples;
pub mod service;
pub mod stores;

/// The time after which a test that waits fails instead of hanging. No test fails because a
/// computer is slow.
pub const STUCK: Duration = Duration::from_mins(1);

/// Waits until something is notified.
pub async fn notified(notify: &Notify) {
    tokio::time::timeout(STUCK, notify.notified()).await.expect("it is notified");
}

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

/// The class of an error of the library, such as `KeyHeld`.
#[must_use]
pub fn class(error: &impl std::fmt::Debug) -> String {
    let text = format!("{error:#?}");
    let class = text.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    let words = class.unwrap_or_else(|| panic!("{text}")).0.split('_');
    words.map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}

/// The evidence that arrived after its worker was fenced.
#[must_use]
pub fn late_evidence(history: &History) -> Vec<Evidence> {
    let late = |fact| match fact {
        CallFact::Evidence { evidence, late: true, .. } => Some(evidence),
        _ => None,
    };
    history.entries.iter().filter_map(CallFact::of).filter_map(late).collect()
}

/// Approves what a person has seen whole.
pub async fn approve(
    store: &Store,
    gate: Gate,
    by: &Human,
) -> Result<Decision, Refused<Gate, EffectError>> {
    let shown = gate.whole_question().unwrap().digest;
    store.approve(gate, shown, by).await
}

/// The start of an execution, as a part of a batch.
pub type Begin = Change<'static, Planned<Action>, (Execution<Running>, Permit<Action>)>;

/// The outcome of a call, as a part of a batch.
pub type Settle = Change<'static, (Execution<Running>, Unsettled), Settled>;

/// The answer to a gate, as a part of a batch.
pub type Decide = Change<'static, Gate, Decision>;

/// Approves as a part of a batch.
#[must_use]
pub fn approval(gate: Gate, by: &Human) -> Decide {
    let shown = gate.whole_question().unwrap().digest;
    Change::approve(gate, shown, by)
}

/// Returns true in a process that runs only the test `name`, for tests that change their process.
/// Elsewhere it starts that process and checks that the test passes in it.
#[must_use]
pub fn is_alone(name: &str) -> bool {
    const ALONE: &str = "MACHINE_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--include-ignored", "--exact", name, "--nocapture", "--test-threads=1"])
        .env(ALONE, "yes")
        .output()
        .unwrap();
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains("1 passed"), "{out}\n{err}");
    false
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
