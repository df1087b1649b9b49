// EX-2: the nine legal transitions, each with its target and data.

use machine::actor::{EcsNode, GraphRunner, ReasoningNode, ToolNode};
use machine::contract::{
    Contract, Execution, InvalidContract, Tool,
    execution::{Cancelled, Completed, DEFINITION, Failed, Pending, Rejected, Running, Waiting},
};

fn pending() -> Result<Execution<Pending>, InvalidContract> {
    let tool = Tool::idempotent("files", "read")?;
    let contract = Contract::tool_call(&tool, r#"{"path": "notes.txt"}"#, &ReasoningNode)?;
    Ok(Execution::new(contract))
}

fn running() -> Result<Execution<Running>, InvalidContract> {
    Ok(pending()?.start(&ToolNode))
}

fn waiting() -> Result<Execution<Waiting>, InvalidContract> {
    Ok(running()?.suspend("Which file?".to_owned(), &EcsNode))
}

fn main() -> Result<(), InvalidContract> {
    assert_eq!(DEFINITION.edges.len(), 9);

    // From PENDING: one.
    let pending = pending()?;
    let id = pending.id();
    assert_eq!(pending.state(), &Pending);
    let started: Execution<Running> = pending.start(&EcsNode);
    assert_eq!(started.state(), &Running);
    assert_eq!(started.id(), id, "a move changes the state, not the identity");

    // From RUNNING: five.
    let succeeded = running()?.succeed("42 bytes".to_owned(), &ToolNode);
    assert_eq!(succeeded.state(), &Completed { result: "42 bytes".to_owned() });
    let failed = running()?.fail("no such file".to_owned(), &GraphRunner);
    assert_eq!(failed.state(), &Failed { error: "no such file".to_owned() });
    let rejected = running()?.reject("not permitted".to_owned(), &EcsNode);
    assert_eq!(rejected.state(), &Rejected { reason: "not permitted".to_owned() });
    let suspended = running()?.suspend("Which file?".to_owned(), &ToolNode);
    assert_eq!(suspended.state(), &Waiting { prompt: "Which file?".to_owned() });
    let cancelled = running()?.cancel("given up".to_owned(), &ToolNode);
    assert_eq!(cancelled.state(), &Cancelled { reason: "given up".to_owned() });

    // From WAITING: three.
    let resumed: Execution<Running> = waiting()?.resume(&GraphRunner);
    assert_eq!(resumed.state(), &Running);
    let cancelled = waiting()?.cancel("given up".to_owned(), &GraphRunner);
    assert_eq!(cancelled.state(), &Cancelled { reason: "given up".to_owned() });
    let timed_out = waiting()?.timeout("a week".to_owned(), &GraphRunner);
    assert_eq!(timed_out.state(), &Cancelled { reason: "a week".to_owned() });

    // The context is unchanged at the end, and the journal has every transition.
    assert_eq!(timed_out.context().summary(), "files.read");
    assert_eq!(timed_out.journal().uncommitted().len(), 4, "created, start, suspend, timeout");
    Ok(())
}
