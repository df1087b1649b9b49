//! The vocabulary of these tests: stores whose clock stands still, so that views from different
//! times are equal, and the ends that an action can come to.

use machine::stored::Durable;
pub(crate) use machine_tests::hand::Hand;

pub(crate) use std::time::Duration;

pub(crate) use machine::{
    Id, actor,
    contract::{
        Action, ActionType, Answer, AnyExecution, Applied, Contract, Effect, Execution, Gate,
        Irreversible, NoReceipt, Planned, Settled, Tool, ToolSpec,
    },
    machine,
    observe::{ConcernReason, NextStep, Observer},
    store::{OpenOptions, Query, Store},
    stored::History,
    view::{
        Audience, ConsequenceView, Diagnostic, ExecutionFact, ExecutionSnapshot, ExecutionTimeline,
        Human, Internal, Label, Language, Prompt, Snapshot, Timeline, View, transitions,
    },
};
pub(crate) use machine_tests::{
    actors::{ann, ecs_node, graph_runner, reasoning_node, tool_node},
    approve, forge, prompt_lines,
    samples::{answers, asked, mail, pending_mail, read, receipt},
};
pub(crate) use serde::{Deserialize, Serialize};
pub(crate) use serde_json::{Map, Value, json};

pub(crate) use crate::store::support::Place;

/// A store in a file, whose clock stands still.
pub(crate) async fn still() -> Place {
    let clock = Hand::at(machine::clock::now() + 1_000);
    Place::with(OpenOptions::new().clock(clock)).await
}

pub(crate) async fn create(store: &Store, machine: &mut impl Durable) -> Id {
    store.create(machine).await.unwrap();
    machine.journal().id()
}

pub(crate) async fn load(store: &Store, id: Id) -> AnyExecution {
    store.load(id).await.unwrap()
}

/// The view that a reasoner has of an execution.
pub(crate) fn view(execution: impl Into<AnyExecution>) -> View<ConsequenceView> {
    ConsequenceView::of(&execution.into())
}

/// Asks a person for an action.
pub(crate) async fn ask(store: &Store, contract: Contract) -> (Gate, Planned<Action>) {
    let (mut gate, mut planned) = contract.ask(None, ecs_node()).unwrap();
    store.ask(&mut gate, &mut planned).await.unwrap();
    (gate, planned)
}

/// An action that Ann has approved, and its gate.
pub(crate) async fn approved(store: &Store, contract: Contract) -> (Id, Planned<Action>) {
    let (gate, planned) = ask(store, contract).await;
    let id = gate.id();
    approve(store, gate, ann()).await.unwrap();
    (id, planned)
}

/// An action after its service has given this answer.
pub(crate) async fn performed(
    store: &Store,
    planned: Planned<Action>,
    answer: Answer,
) -> AnyExecution {
    let id = planned.id();
    drop(store.perform(planned, answers(answer), tool_node()).await.unwrap());
    load(store, id).await
}

/// The timeline of a session, computed from its machines in memory.
pub(crate) async fn live_session<A: Audience>(
    store: &Store,
    session: &str,
    language: Language,
) -> View<ExecutionTimeline<A>> {
    let query = Query::new().session(session).limit(1000);
    let machines = store.load_all::<AnyExecution>(&query).await.unwrap().items;
    let machines: Vec<AnyExecution> = machines.into_iter().map(Result::unwrap).collect();
    let mut parts = Vec::new();
    for machine in &machines {
        let history = store.history(machine.id()).await.unwrap();
        parts.push((machine, transitions(&history)));
    }
    ExecutionTimeline::of(session, parts, store.now(), language)
}

/// A read that is under way.
pub(crate) fn reading() -> Execution<machine::contract::execution::Running> {
    Execution::new(read("a.txt")).start(tool_node())
}

/// A possible answer of a service.
#[allow(clippy::unnecessary_wraps, reason = "an answer is a result")]
pub(crate) fn done(text: &str) -> Answer {
    Ok(Applied::new(text))
}

pub(crate) fn refused(text: &str) -> Answer {
    Err(NoReceipt::not_applied(text))
}

pub(crate) fn unknown(text: &str) -> Answer {
    Err(NoReceipt::unknown(text))
}
