//! A durable machine records the edge that a choice took, and what the caller gave.

use machine::{actor::Anyone, journal::Fact, machine, stored::Unverified};
use serde::{Deserialize, Serialize};

/// An answer with a scope.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    Yes(String),
    No,
}

/// A request.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Request {
    #[initial]
    #[on(answer(answer: Answer) => match answer {
        Answer::Yes(scope) => Running(scope, failures = 0),
        Answer::No => Stopped,
    })]
    Asked,

    #[on(retry => if failures < 1 { Self(failures = failures + 1) } else { Stopped })]
    Running { scope: String, failures: u32 },

    #[terminal]
    Stopped,
}

fn stopped() -> AnyRequest {
    use request::{AfterAnswer, AfterRetry};

    let AfterAnswer::Running(running) = Request::new().answer(Answer::Yes("files".to_owned()))
    else {
        panic!("the answer was yes")
    };
    let AfterRetry::Running(running) = running.retry() else { panic!("the first failure") };
    running.retry().into()
}

fn moves(any: &AnyRequest) -> Vec<(String, String, String)> {
    let moved = any.journal().uncommitted().iter().filter_map(|entry| match &entry.fact {
        Fact::Moved { from, trigger, to, .. } => {
            Some((from.to_string(), trigger.to_string(), to.to_string()))
        }
        _ => None,
    });
    moved.collect()
}

#[test]
fn the_journal_has_the_target_that_was_chosen() {
    let expected = [
        ("asked", "answer", "running"),
        ("running", "retry", "running"),
        ("running", "retry", "stopped"),
    ];
    let expected = expected.map(|(from, by, to)| (from.to_owned(), by.to_owned(), to.to_owned()));
    assert_eq!(moves(&stopped()), expected);
}

#[test]
fn the_journal_has_the_item_that_the_choice_took_apart() {
    let any = stopped();
    let Fact::Moved { payload, .. } = &any.journal().uncommitted()[1].fact else {
        panic!("the second entry is the answer")
    };
    assert_eq!(payload["answer"], serde_json::json!({ "Yes": "files" }));
}

#[test]
fn the_erased_machine_records_the_same() {
    let mut any = AnyRequest::from(Request::new());
    let answer = Answer::Yes("files".to_owned());
    any.apply_mut(request::Event::Answer { answer }, &Anyone).unwrap();
    any.apply_mut(request::Event::Retry, &Anyone).unwrap();
    any.apply_mut(request::Event::Retry, &Anyone).unwrap();
    assert_eq!(moves(&any), moves(&stopped()));
}

#[test]
fn a_journal_with_choices_is_verified() {
    let json = serde_json::to_string(&stopped()).unwrap();
    let claim: Unverified = serde_json::from_str(&json).unwrap();
    assert_eq!(claim.verify::<AnyRequest>().unwrap().status(), request::Status::Stopped);
}
