//! Actors come from one place, and a machine of the user is not an execution of the library.

use machine::{
    actor::{Actor, Actors, Category, Human, InvalidName},
    machine,
    view::{Diagnostic, transitions},
};
use serde::{Deserialize, Serialize};

use crate::effects::prelude::*;

macro_rules! impostor {
    ($name:ident, $kind:literal, $category:ident) => {
        #[derive(Debug)]
        struct $name;

        impl Actor for $name {
            const KIND: &'static str = $kind;
            const CATEGORY: Category = Category::$category;

            fn name(&self) -> Option<&str> {
                Some("ann")
            }
        }
    };
}

impostor!(FalseRunner, "graph_runner", System);
impostor!(FalseTool, "tool_node", Tool);
impostor!(FalseHuman, "human", Human);

/// A type with the name of an actor of the library is not that actor.
#[tokio::test]
async fn a_kind_does_not_make_an_actor() {
    let place = Place::new().await;
    let (gate, planned) = place.asked(mail("bob")).await;
    let waiting: AnyExecution = place.store.load(gate.id()).await.unwrap();
    let refused = waiting.apply(Event::Resume, &FalseRunner).unwrap_err();
    let refused = refused.machine.apply(Event::Resume, &FalseHuman).unwrap_err();
    assert_eq!(refused.machine.available(&FalseRunner).count(), 0);
    assert_ne!(refused.machine.available(graph_runner()).count(), 0);
    let pending: AnyExecution = place.store.load(planned.id()).await.unwrap();
    let refused = pending.apply(Event::Start, &FalseTool).unwrap_err();
    assert_eq!(refused.machine.journal().uncommitted().len(), 0);
}

#[test]
fn a_name_is_visible_text() {
    assert!(Actors::issue("mailer").is_ok());
    for name in ["", "  ", "ann\u{202e}", "ann\nben", "a\u{200b}nn"] {
        assert!(Actors::issue(name).is_err() && Human::new(name).is_err(), "{name:?}");
    }
    let long = "a".repeat(201);
    assert_eq!(Human::new(&long).unwrap_err(), InvalidName::TooLong);
}

/// The journal says who it was; people see the category.
#[tokio::test]
async fn the_journal_names_the_actor() {
    let place = Place::new().await;
    let (gate, planned) = place.asked(mail("bob")).await;
    let (id, person) = (gate.id(), Human::new("ann@example.com").unwrap());
    let _ = machine_tests::approve(&place.store, gate, &person).await.unwrap();
    let planned_id = planned.id();
    let service = answers(receipt("250 queued"));
    let _ = place.store.perform(planned, service, tool_node()).await.unwrap();
    let decision = place.entries(id).await;
    let by = decision.iter().map(|entry| (entry.actor.as_deref(), entry.by.as_deref()));
    assert!(by.into_iter().any(|by| by == (Some("human"), Some("ann@example.com"))));

    let history = place.store.history(planned_id).await.unwrap();
    let all = transitions::<Diagnostic>(&history);
    let all: Vec<_> = all
        .iter()
        .map(|step| (&*step.trigger, step.actor_category, step.actor_name.as_deref()))
        .collect();
    let expected =
        [("start", Category::Tool, Some("test")), ("succeed", Category::Tool, Some("test"))];
    assert_eq!(all, expected);
}

/// A machine of the user that calls itself `execution`.
mod namesake {
    use super::{Deserialize, Serialize, machine};

    #[machine(durable)]
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub(super) enum Execution {
        /// As if it had ended.
        #[initial]
        #[on(end => Completed)]
        Pending,
        #[terminal]
        Completed,
    }
}

#[tokio::test]
async fn a_namesake_is_not_stored() {
    let mut false_gate = namesake::Execution::new().end();
    assert_err!(
        Store::memory().create(&mut false_gate).await,
        EffectError::Commit(CommitError::Refused { .. })
    );
}
