//! The nine legal transitions, each with its target and data.

use machine::actor::Actors;
use machine::contract::{
    Contract, Execution, InvalidContract, ToolSpec,
    execution::{Cancelled, Completed, DEFINITION, Failed, Pending, Rejected, Running, Waiting},
};

fn pending(actors: &Actors) -> Result<Execution<Pending>, InvalidContract> {
    let tool = ToolSpec::idempotent("files", "read")?;
    let arguments = r#"{"path": "notes.txt"}"#;
    let contract = Contract::tool_call(&tool, arguments, &actors.reasoning_node)?;
    Ok(Execution::new(contract))
}

#[test]
fn runs() -> Result<(), InvalidContract> {
    let actors = Actors::issue("reader")?;
    assert_eq!(DEFINITION.edges.len(), 9);

    let running = || Ok::<_, InvalidContract>(pending(&actors)?.start(&actors.tool_node));
    let waiting = || {
        let prompt = "Which file?".to_owned();
        Ok::<_, InvalidContract>(running()?.suspend(prompt, &actors.ecs_node))
    };

    // From PENDING: one.
    let pending = pending(&actors)?;
    let id = pending.id();
    assert_eq!(pending.state(), &Pending);
    let started: Execution<Running> = pending.start(&actors.ecs_node);
    assert_eq!(started.state(), &Running);
    assert_eq!(started.id(), id, "a move changes the state, not the identity");

    // From RUNNING: five.
    let succeeded = running()?.succeed("42 bytes".to_owned(), &actors.tool_node);
    assert_eq!(succeeded.state(), &Completed { result: "42 bytes".to_owned() });
    let failed = running()?.fail("no such file".to_owned(), None, &actors.graph_runner);
    assert_eq!(failed.state(), &Failed { error: "no such file".to_owned(), refusal: None });
    let rejected = running()?.reject("not permitted".to_owned(), &actors.ecs_node);
    assert_eq!(rejected.state(), &Rejected { reason: "not permitted".to_owned() });
    let suspended = running()?.suspend("Which file?".to_owned(), &actors.tool_node);
    assert_eq!(suspended.state(), &Waiting { prompt: "Which file?".to_owned() });
    let cancelled = running()?.cancel("given up".to_owned(), &actors.tool_node);
    assert_eq!(cancelled.state(), &Cancelled { reason: "given up".to_owned() });

    // From WAITING: three.
    let resumed: Execution<Running> = waiting()?.resume(&actors.graph_runner);
    assert_eq!(resumed.state(), &Running);
    let cancelled = waiting()?.cancel("given up".to_owned(), &actors.graph_runner);
    assert_eq!(cancelled.state(), &Cancelled { reason: "given up".to_owned() });
    let timed_out = waiting()?.timeout(&actors.graph_runner);
    assert_eq!(timed_out.state(), &Cancelled { reason: "not answered in time".to_owned() });

    // The context is unchanged at the end, and the journal has every transition.
    assert_eq!(timed_out.context().summary(), "files.read");
    assert_eq!(timed_out.journal().uncommitted().len(), 4, "created, start, suspend, timeout");
    Ok(())
}
