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

/// A state and fields that are deprecated, which no expression uses.
#[machine(durable, fields(#[deprecated(note = "use `customer`")] name: String, in = Placed | Unpaid))]
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Order {
    #[initial]
    #[on(pay => Paid)]
    #[on(postpone => Unpaid)]
    Placed {
        customer: u32,
        #[deprecated]
        note: String,
    },

    #[deprecated(note = "use `Placed`")]
    #[on(pay => Paid)]
    Unpaid { customer: u32 },

    #[terminal]
    Paid,
}

/// One that is deprecated as a whole.
#[machine]
#[deprecated(note = "use `Order`")]
pub enum Ticket {
    #[initial]
    #[on(sell => Sold)]
    Printed,

    #[terminal]
    Sold,
}

/// Generated items name a lifetime once where the enum does so.
#[deny(single_use_lifetimes)]
mod lifetimes {
    use machine::machine;

    #[machine]
    #[derive(Debug)]
    pub enum Letter<'a> {
        #[initial]
        #[on(address(to) => Addressed)]
        Blank,

        #[terminal]
        Addressed { to: &'a str },
    }
}

#[test]
fn runs() {
    assert_eq!(lifetimes::Letter::new().address("Ann").state().to, "Ann");

    let paid = Order::new("Ann".to_owned(), 7, String::new()).postpone().pay();
    assert_eq!(AnyOrder::from(paid).status(), order::Status::Paid);

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
