//! Actors come from one place, and a machine of the user is not an execution of the library.

use std::path::PathBuf;

use machine::{
    Id,
    actor::{Actor, Actors, Category, Human, InvalidName},
    contract::{AnyExecution, execution::Event},
    journal::{Entry, Fact},
    machine,
    store::{CommitError, Store},
    stored::{Breach, Context, Hold, Index},
    view::{Diagnostic, transitions},
};
use machine_tests::{
    actors::{ecs_node, graph_runner},
    assert_err,
};
use serde::{Deserialize, Serialize};

use crate::effects::{
    bank::{Bank, Dedup},
    support::{assert_intact, new_store, stored},
    tool::{Pay, Teller, pay},
    worker::{self, Report},
};
use crate::process::{Process, orders, say};

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
    let (_folder, _, store) = new_store().await;
    let (mut gate, mut planned) = pay("bob").ask::<Pay>(None, ecs_node()).unwrap();
    store.ask(&mut gate, &mut planned).await.unwrap();
    let waiting: AnyExecution = store.load(gate.id()).await.unwrap();
    let refused = waiting.apply(Event::Resume, &FalseRunner).unwrap_err();
    let refused = refused.machine.apply(Event::Resume, &FalseHuman).unwrap_err();
    assert_eq!(refused.machine.available(&FalseRunner).count(), 0);
    assert_ne!(refused.machine.available(graph_runner()).count(), 0);
    let pending: AnyExecution = store.load(planned.id()).await.unwrap();
    let refused = pending.apply(Event::Start, &FalseTool).unwrap_err();
    assert_eq!(refused.machine.journal().uncommitted().len(), 0);
}

#[test]
fn a_name_is_visible_text() {
    assert!(Actors::issue("mailer").is_ok());
    for name in ["", "  ", "ann\u{202e}", "ann\nben", "a\u{200b}nn"] {
        assert!(Actors::issue(name).is_err() && Human::new(name).is_err(), "{name:?}");
    }
    let long = "a".repeat(InvalidName::MAX_BYTES + 1);
    assert_eq!(Human::new(&long).unwrap_err(), InvalidName::TooLong);
}

/// The journal says who it was; people see the category.
#[tokio::test]
async fn the_journal_names_the_actor() {
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    let (mut gate, mut planned) = pay("bob").ask::<Pay>(None, ecs_node()).unwrap();
    store.ask(&mut gate, &mut planned).await.unwrap();
    let (gate, person) = (gate.id(), Human::new("ann@example.com").unwrap());
    let _ = machine_tests::approve(&store, store.gate(gate).await.unwrap(), &person).await.unwrap();
    worker::run("pays", &file, planned.id(), Teller::pays(&bank));
    let decision = store.history(gate).await.unwrap();
    let by = decision.entries.iter().map(|entry| (entry.actor.as_deref(), entry.by.as_deref()));
    assert!(by.into_iter().any(|by| by == (Some("human"), Some("ann@example.com"))));

    let history = store.history(planned.id()).await.unwrap();
    let all = transitions::<Diagnostic>(&history);
    let all: Vec<_> = all
        .iter()
        .map(|step| (&*step.trigger, step.actor_category, step.actor_name.as_deref()))
        .collect();
    let expected =
        [("start", Category::Tool, Some("test")), ("succeed", Category::Tool, Some("test"))];
    assert_eq!(all, expected);
}

/// A claim of a user's machine about a key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Squat {
    key: String,
}

impl Context for Squat {
    type Summary = u32;

    fn fold(&self, moves: &mut u32, entry: &Entry) -> Result<(), Breach> {
        *moves += u32::from(matches!(entry.fact, Fact::Moved { .. }));
        Ok(())
    }

    fn index(&self, moves: &u32) -> Index {
        let mut index = Index::default();
        index.key = Some(self.key.clone());
        index.exclusive = true;
        index.hold = if *moves == 0 { Hold::Held } else { Hold::Applied };
        index
    }
}

#[machine(durable, context = Squat)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Squatter {
    /// It holds the key from its creation on.
    #[initial]
    #[on(stay => Forever)]
    Here,
    /// It says that the action that the key protects took effect.
    #[terminal]
    Forever,
}

/// Another program, with a machine that names the key of a contract.
#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn squats() {
    let (file, key): (PathBuf, String) = orders();
    let store = Store::sqlite(file).await.unwrap();
    let mut here = Squatter::new(Squat { key: key.clone() });
    let created = store.create(&mut here).await.map_err(|error| error.to_string());
    let mut forever = Squatter::new(Squat { key }).stay();
    let stayed = store.create(&mut forever).await.map_err(|error| error.to_string());
    say(&(here.id(), created, stayed));
}

type Squatted = (Id, Result<(), String>, Result<(), String>);

/// A machine of the user that holds the key of a contract, or says that it was applied, does not keep
/// the contract from running, whether it came first or last.
#[tokio::test]
async fn a_machine_of_the_user_does_not_wedge_a_key() {
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    let key = pay("bob").idempotency_key().unwrap().to_string();
    let squat = || -> Squatted {
        let mut squatter = Process::start("effects::actors::squats", &(&file, &key));
        let tried = squatter.hear();
        squatter.join();
        tried
    };
    let (_, before, _) = squat();
    assert_eq!(before, Ok(()), "nobody else has the key");
    let id = stored::<Pay>(&store, pay("bob")).await.id();
    let report = worker::run("pays", &file, id, Teller::pays(&bank));
    assert_eq!(report, Report::Completed("receipt 1".to_owned()));

    let (_, _, after) = squat();
    assert!(after.is_err(), "the key is that of a contract");
    // Whatever it did, it protects nothing of the contract, and frees nothing.
    let mut again = machine::contract::Execution::new(pay("bob"));
    assert_err!(store.create(&mut again).await, CommitError::AlreadyDone { .. });
    assert_eq!(bank.count(), 1);
    assert_intact(&store).await;
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
    let (_folder, _, store) = new_store().await;
    let mut false_gate = namesake::Execution::new().end();
    assert_err!(store.create(&mut false_gate).await, CommitError::Refused { .. });
}
