//! A reference model of the execution machine, written by hand from the specification.

use machine::{
    actor::{Actor, Anyone, Category},
    contract::{
        AnyExecution,
        execution::{Event, Status},
    },
    typed::{Illegal, Refused},
};
use machine_tests::actors::{ecs_node, graph_runner, reasoning_node, tool_node};
use proptest::prelude::*;

/// The actors that can occur at run time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Who {
    Tool,
    Ecs,
    Graph,
    Reasoner,
    Anyone,
    Stranger,
}

impl Who {
    pub(crate) const ALL: [Self; 6] =
        [Self::Tool, Self::Ecs, Self::Graph, Self::Reasoner, Self::Anyone, Self::Stranger];
}

/// A foreign actor with the kind of a built-in one.
#[derive(Debug)]
pub(crate) struct Stranger;

impl Actor for Stranger {
    const KIND: &'static str = "graph_runner";
    const CATEGORY: Category = Category::System;
}

/// The target of `trigger` from `from` by `who`; `None` if it is not allowed.
pub(crate) fn next(from: Status, trigger: &str, who: Who) -> Option<Status> {
    let to = match (from, trigger) {
        (Status::Pending, "start") | (Status::Waiting, "resume") => Status::Running,
        (Status::Running, "succeed") => Status::Completed,
        (Status::Running, "fail") => Status::Failed,
        (Status::Running, "reject") => Status::Rejected,
        (Status::Running, "suspend") => Status::Waiting,
        (Status::Running | Status::Waiting, "cancel") | (Status::Waiting, "timeout") => {
            Status::Cancelled
        }
        _ => return None,
    };
    let may = match from {
        Status::Pending => matches!(who, Who::Tool | Who::Ecs),
        Status::Waiting => who == Who::Graph,
        _ => matches!(who, Who::Tool | Who::Ecs | Who::Graph),
    };
    may.then_some(to)
}

/// `AnyExecution::apply` with an actor that is known only at run time.
pub(crate) fn apply(
    machine: AnyExecution,
    event: Event,
    who: Who,
) -> Result<AnyExecution, Refused<AnyExecution>> {
    match who {
        Who::Tool => machine.apply(event, tool_node()),
        Who::Ecs => machine.apply(event, ecs_node()),
        Who::Graph => machine.apply(event, graph_runner()),
        Who::Reasoner => machine.apply(event, reasoning_node()),
        Who::Anyone => machine.apply(event, &Anyone),
        Who::Stranger => machine.apply(event, &Stranger),
    }
}

/// Applies an event with `apply_mut`.
pub(crate) fn apply_mut(machine: &mut AnyExecution, event: Event, who: Who) -> Result<(), Illegal> {
    match who {
        Who::Tool => machine.apply_mut(event, tool_node()),
        Who::Ecs => machine.apply_mut(event, ecs_node()),
        Who::Graph => machine.apply_mut(event, graph_runner()),
        Who::Reasoner => machine.apply_mut(event, reasoning_node()),
        Who::Anyone => machine.apply_mut(event, &Anyone),
        Who::Stranger => machine.apply_mut(event, &Stranger),
    }
}

pub(crate) fn events() -> impl Strategy<Value = Event> {
    let text = || "\\PC{0,8}";
    prop_oneof![
        1 => Just(Event::Start),
        1 => text().prop_map(|result| Event::Succeed { result }),
        1 => text().prop_map(|error| Event::Fail { error, refusal: None }),
        1 => text().prop_map(|reason| Event::Reject { reason }),
        3 => text().prop_map(|prompt| Event::Suspend { prompt }),
        1 => text().prop_map(|reason| Event::Cancel { reason }),
        3 => Just(Event::Resume),
        1 => Just(Event::Timeout),
    ]
}

pub(crate) fn actors() -> impl Strategy<Value = Who> {
    prop_oneof![
        3 => Just(Who::Tool),
        2 => Just(Who::Ecs),
        3 => Just(Who::Graph),
        1 => Just(Who::Reasoner),
        1 => Just(Who::Anyone),
        1 => Just(Who::Stranger),
    ]
}
