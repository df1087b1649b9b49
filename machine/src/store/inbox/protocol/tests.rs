#![allow(clippy::unwrap_used, reason = "tests")]

use super::{Attempted, Cause, Claim, Event, Fail, Fault, InboxState, step};
use crate::clock::Millis;

const LATER: Millis = 1000;

/// A machine that a worker drives.
struct Driven(InboxState);

impl Driven {
    fn new() -> Self {
        let mut driven = Self(InboxState::default());
        driven.happens(&Event::Drive { now: 0 });
        driven
    }

    fn happens(&mut self, event: &Event) {
        let effects = step(&self.0, event).unwrap();
        self.0.apply(&effects);
    }

    /// A worker claims it, and fails.
    fn fails(&mut self, on: &Attempted, hopeless: bool) {
        let (token, max_attempts) = (self.0.work.as_ref().unwrap().token, 5);
        self.happens(&Event::Claim(Claim {
            worker: "w".to_owned(),
            token,
            now: 0,
            until: LATER,
            holder_ended: false,
            on: on.clone(),
            max_attempts,
        }));
        self.happens(&Event::Fail(Fail {
            token: token + 1,
            on: on.clone(),
            fault: Fault::new(Cause::Unreadable, "unreadable"),
            revision: self.0.work.as_ref().unwrap().revision,
            now: 0,
            retry_at: LATER,
            due_at: None,
            others_at: None,
            max_attempts,
            hopeless,
        }));
    }

    fn is_due(&self) -> bool {
        self.0.work.as_ref().unwrap().wake.is_some_and(|wake| wake.is_due(0))
    }
}

/// The handler fails ahead of a message, so a worker looks once for what is behind it.
#[test]
fn a_machine_that_fails_after_a_child_has_ended_comes_to_rest() {
    for hopeless in [true, false] {
        let mut driven = Driven::new();
        driven.happens(&Event::ChildEnded { now: 0 });
        driven.fails(&Attempted::State, hopeless);
        assert!(driven.is_due());
        driven.fails(&Attempted::Recheck, hopeless);
        assert!(!driven.is_due(), "{hopeless}");
    }
}
