//! A durable machine records its deadlines, and fires those that are due by the clock of the store.

use std::time::Duration;

use machine::{
    actor::{Actor, Category, GraphRunner},
    clock::{Clock, Millis},
    journal::Fact,
    machine,
    store::OpenOptions,
    typed::Reason,
};
use pollster::block_on;
use serde::{Deserialize, Serialize};

/// A question with a limit.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Question {
    #[initial]
    #[on(answer(text) => Answered)]
    #[on(
        timeout(reason = format!("no answer in {limit:?}")) => Cancelled,
        by = GraphRunner,
        after = limit,
    )]
    Asked { limit: Duration },

    #[terminal]
    Answered { text: String },

    #[terminal]
    Cancelled { reason: String },
}

/// A clock that does not move.
#[derive(Debug)]
struct At(Millis);

impl Clock for At {
    fn now(&self) -> Millis {
        self.0
    }
}

fn asked() -> AnyQuestion {
    Question::new(Duration::from_secs(30)).into()
}

#[test]
fn the_journal_has_the_duration_until_a_commit() {
    let asked = asked();
    let [due] = asked.journal().deadlines() else { panic!("there is one deadline") };
    assert_eq!((&*due.trigger, due.after_ms, due.due_at), ("timeout", 30_000, None));
}

#[test]
fn a_deadline_that_was_not_committed_is_not_due() {
    let refused = asked().fire_deadline("timeout", Millis::MAX).unwrap_err();
    assert_eq!(refused.reason.reason(), &Reason::NotDue(30_000));
}

#[test]
fn a_committed_deadline_fires_when_it_is_due() {
    let store = OpenOptions::new().clock(At(1_000)).memory();
    let mut any = asked();
    block_on(store.create(&mut any)).unwrap();

    let refused = any.fire_deadline("timeout", 30_999).unwrap_err();
    assert_eq!(refused.reason.reason(), &Reason::NotDue(1));
    let any = refused.machine.fire_deadline("timeout", 31_000).unwrap();
    let last = any.journal().uncommitted().last().unwrap();
    assert_eq!(last.actor.as_deref(), Some(GraphRunner::KIND));
    assert_eq!(GraphRunner::CATEGORY, Category::System);
    let Fact::Moved { trigger, deadlines, .. } = &last.fact else { panic!("{last:?}") };
    assert_eq!(trigger, "timeout");
    assert!(deadlines.is_empty(), "the target has no deadline");
    let AnyQuestion::Cancelled(cancelled) = any else { panic!("{any:?}") };
    assert_eq!(cancelled.state().reason, "no answer in 30s");
}
