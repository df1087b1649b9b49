//! The erased machine follows the definition for every state and event.

use machine::actor::{Actor, Actors};
use machine::contract::{
    AnyExecution, Contract, Execution, ToolSpec,
    execution::{DEFINITION, Event, Running, Status},
};
use machine::typed::{Illegal, Reason};

fn actors() -> Actors {
    Actors::issue("reader").unwrap()
}

fn running() -> Execution<Running> {
    let actors = actors();
    let tool = ToolSpec::idempotent("files", "read").unwrap();
    let arguments = r#"{"path": "notes.txt"}"#;
    let contract = Contract::tool_call(&tool, arguments, &actors.reasoning_node).unwrap();
    Execution::new(contract).start(&actors.tool_node)
}

fn any(status: Status) -> AnyExecution {
    let text = "text".to_owned();
    let by = actors().tool_node;
    match status {
        Status::Pending => Execution::new(running().context().clone()).into(),
        Status::Running => running().into(),
        Status::Waiting => running().suspend(text, &by).into(),
        Status::Completed => running().succeed(text, &by).into(),
        Status::Failed => running().fail(text, &by).into(),
        Status::Rejected => running().reject(text, &by).into(),
        Status::Cancelled => running().cancel(text, &by).into(),
    }
}

fn events() -> [Event; 8] {
    let text = || "text".to_owned();
    [
        Event::Start,
        Event::Succeed { result: text() },
        Event::Fail { error: text() },
        Event::Reject { reason: text() },
        Event::Suspend { prompt: text() },
        Event::Cancel { reason: text() },
        Event::Resume,
        Event::Timeout,
    ]
}

/// Applies the event by value and in place; both agree with the definition.
fn ask<A: Actor>(status: Status, event: &Event, by: &A) -> Result<Status, Illegal> {
    let edge = DEFINITION.find_move(status as usize, event.trigger());
    let expected = edge.filter(|edge| edge.actors().contains(&A::KIND.into()));

    let machine = any(status);
    let (id, entries) = (machine.id(), machine.journal().uncommitted().len());
    let by_value = match machine.apply(event.clone(), by) {
        Ok(moved) => {
            assert_eq!(moved.id(), id);
            assert_eq!(moved.journal().uncommitted().len(), entries + 1);
            Ok(moved.status())
        }
        Err(refused) => {
            assert_eq!(refused.to_string(), refused.reason.to_string());
            assert_eq!(refused.machine.id(), id, "the same machine comes back");
            assert_eq!(refused.machine.status(), status, "in the same state");
            assert_eq!(refused.machine.journal().uncommitted().len(), entries, "with no new entry");
            Err(refused.reason)
        }
    };

    let mut machine = any(status);
    let (id, entries) = (machine.id(), machine.journal().uncommitted().len());
    let in_place = machine.apply_mut(event.clone(), by).map(|()| machine.status());
    let added = usize::from(in_place.is_ok());
    assert_eq!(machine.id(), id);
    assert_eq!(machine.journal().uncommitted().len(), entries + added);
    if in_place.is_err() {
        assert_eq!(machine.status(), status, "a refusal leaves the machine as it was");
    }

    assert_eq!(by_value, in_place);
    assert_eq!(by_value.clone().ok(), expected.map(|legal| Status::ALL[legal.edges()[0].to]));
    if let Err(illegal) = &by_value {
        assert_eq!(illegal.state(), status.definition().label);
        assert_eq!(illegal.trigger(), event.trigger());
        let legal: Vec<_> = illegal.legal_moves().collect();
        assert_eq!(legal, DEFINITION.moves(status as usize).collect::<Vec<_>>());
        let reason = match edge {
            Some(_) => Reason::Actor(A::KIND),
            None if status.definition().terminal => Reason::Terminal,
            None => Reason::NotFromHere,
        };
        assert_eq!(illegal.reason(), &reason);
    }
    by_value
}

/// The number of legal pairs of state and event, of 56, for this actor.
fn accepted<A: Actor>(by: &A) -> usize {
    let pairs = || Status::ALL.iter().flat_map(|status| events().map(|event| (*status, event)));
    assert_eq!(pairs().count(), 56);
    pairs().filter(|(status, event)| ask(*status, event, by).is_ok()).count()
}

#[test]
fn runs() {
    let actors = actors();
    for (status, event) in Status::ALL.iter().flat_map(|s| events().map(|event| (*s, event))) {
        let available = [
            ask(status, &event, &actors.tool_node).is_ok(),
            ask(status, &event, &actors.ecs_node).is_ok(),
            ask(status, &event, &actors.graph_runner).is_ok(),
        ]
        .contains(&true);
        let legal = DEFINITION.find_move(status as usize, event.trigger()).is_some();
        assert_eq!(available, legal, "{status} {}", event.trigger());
    }
    assert_eq!(accepted(&actors.tool_node), 6, "start, and the five that leave RUNNING");
    assert_eq!(accepted(&actors.ecs_node), 6);
    assert_eq!(accepted(&actors.graph_runner), 8, "all but start");
    assert_eq!(accepted(&actors.reasoning_node), 0);

    let says = |status, event, text: &str| {
        assert_eq!(ask(status, &event, &actors.tool_node).unwrap_err().to_string(), text);
    };
    says(
        Status::Waiting,
        Event::Succeed { result: "sent".to_owned() },
        "WAITING cannot `succeed`; from WAITING you can: resume -> RUNNING, cancel -> CANCELLED, \
         timeout -> CANCELLED",
    );
    says(
        Status::Pending,
        Event::Resume,
        "PENDING cannot `resume`; from PENDING you can: start -> RUNNING",
    );
    says(Status::Completed, Event::Resume, "COMPLETED is terminal: it cannot `resume`");
    says(
        Status::Waiting,
        Event::Resume,
        "`tool_node` may not `resume` from WAITING; these may: graph_runner",
    );
}
