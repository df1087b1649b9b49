//! A machine causes no warnings: not for a field that an expression ignores, nor for a branch.

#![deny(warnings, unused, clippy::all)]

use std::time::Duration;

use machine::{
    actor::{Actors, GraphRunner},
    machine,
};

#[derive(Debug)]
pub enum Answer {
    Yes { scope: String, size: u32 },
    No,
}

/// A question.
#[machine(
    context = Duration,
    on(expire(why = status.to_string()) => Expired, from = Open, by = GraphRunner, after = *context),
    on(again => if asked < 3 { Self(asked = asked + 1) } else { Stopped }, from = Open),
)]
#[derive(Debug)]
pub enum Question {
    #[initial]
    #[group(Open)]
    #[on(answer(answer: Answer, note: u8) => match (answer, limit) {
        (Answer::Yes { scope, .. }, _) if scope.is_empty() => Stopped,
        (Answer::Yes { size, .. }, Some(most)) if size > most => Self,
        (Answer::Yes { scope, size: _ }, _) => Running(scope),
        (Answer::No, _) => if note > 3 { Stopped } else { Waiting },
    })]
    Asked { asked: u32, limit: Option<u32>, ignored: String },

    #[group(Open)]
    #[on(look => if source.asked > 0 { Self } else { Stopped })]
    Waiting { asked: u32 },

    #[terminal]
    Running { scope: String },

    #[terminal]
    Expired { why: String },

    #[terminal]
    Stopped,
}

#[test]
fn runs() {
    let actors = Actors::issue("inbox").unwrap();
    use question::{AfterAgain, AfterAnswer, AfterLook};

    let asked = Question::new(Duration::ZERO, 1, Some(7), String::new());
    let yes = Answer::Yes { scope: "files".to_owned(), size: 8 };
    let AfterAnswer::Asked(asked) = asked.answer(yes, 0) else { panic!("8 is above the limit") };
    assert_eq!(asked.state().limit, Some(7));
    let AfterAnswer::Waiting(waiting) = asked.answer(Answer::No, 3) else { panic!("not noted") };
    let AfterLook::Waiting(waiting) = waiting.look() else { panic!("asked once") };
    let AfterAgain::Same(waiting) = waiting.again() else { panic!("asked once") };
    assert_eq!(waiting.expire(&actors.graph_runner).state().why, "waiting");
}
