//! `match`, with guards of its arms, alternatives and nested choices, leads where its pattern says.

use machine::machine;

#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    Yes { scope: String },
    No(String),
    Later,
    Never,
}

/// A question to a person.
#[machine]
#[derive(Debug)]
pub enum Question {
    #[initial]
    #[on(answer(answer: Answer) => match answer {
        Answer::Yes { scope } if scope.len() > limit => Stopped(reason = "too much".to_owned()),
        Answer::Yes { scope } => Running(scope),
        Answer::No(reason) => Stopped(reason),
        Answer::Later | Answer::Never => if postponed {
            Stopped(reason = "no answer".to_owned())
        } else {
            Self(postponed = true)
        }
    })]
    #[on(look => match draft { Some(scope) => Running(scope), None => Self(draft = None) })]
    #[on(peek => match &draft {
        Some(text) if text.is_empty() => Stopped(reason = "an empty draft".to_owned()),
        _ => Self,
    })]
    Asked { limit: usize, postponed: bool, draft: Option<String> },

    #[terminal]
    Running { scope: String },

    #[terminal]
    Stopped { reason: String },
}

fn asked(draft: Option<&str>) -> Question<question::Asked> {
    Question::new(5, false, draft.map(str::to_owned))
}

fn yes(scope: &str) -> Answer {
    Answer::Yes { scope: scope.to_owned() }
}

#[test]
fn a_pattern_binds_values_for_its_branch() {
    use question::AfterAnswer;

    let AfterAnswer::Running(running) = asked(None).answer(yes("files")) else {
        panic!("the answer was yes")
    };
    assert_eq!(running.state().scope, "files");
    let no = Answer::No("it is late".to_owned());
    let AfterAnswer::Stopped(stopped) = asked(None).answer(no) else { panic!("the answer was no") };
    assert_eq!(stopped.state().reason, "it is late");
}

#[test]
fn the_guard_of_an_arm_sees_the_source() {
    let question::AfterAnswer::Stopped(stopped) = asked(None).answer(yes("everything")) else {
        panic!("longer than the limit")
    };
    assert_eq!(stopped.state().reason, "too much");
}

#[test]
fn an_arm_can_have_alternatives_and_another_choice() {
    use question::AfterAnswer;

    let AfterAnswer::Asked(asked) = asked(None).answer(Answer::Later) else {
        panic!("it can be postponed once")
    };
    assert!(asked.state().postponed);
    assert!(matches!(asked.answer(Answer::Never), AfterAnswer::Stopped(_)));
}

#[test]
fn a_match_can_consume_a_field_of_the_source() {
    use question::AfterLook;

    let AfterLook::Running(running) = asked(Some("files")).look() else { panic!("a draft") };
    assert_eq!(running.state().scope, "files");
    assert!(matches!(asked(None).look(), AfterLook::Asked(_)));
}

#[test]
fn a_match_on_a_reference_leaves_the_field_to_be_carried_over() {
    use question::AfterPeek;

    let AfterPeek::Asked(asked) = asked(Some("files")).peek() else { panic!("not empty") };
    assert_eq!(asked.state().draft.as_deref(), Some("files"));
    assert!(matches!(self::asked(Some("")).peek(), AfterPeek::Stopped(_)));
}
