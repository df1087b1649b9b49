//! The execution trace and its cap (EX-11).

use machine::view::{ExecutionTrace, TraceStep};

use crate::view::prelude::*;

/// An execution that waited `rounds` times and is COMPLETED: `3 + 2 * rounds` steps.
fn long(rounds: usize) -> AnyExecution {
    let mut running = reading();
    for _ in 0..rounds {
        running = running.suspend("?".to_owned(), ecs_node()).resume(graph_runner());
    }
    running.succeed("42 lines".to_owned(), tool_node()).into()
}

/// An execution that was never stored, as the trace reads it.
fn read_from(execution: &AnyExecution) -> (&Contract, History) {
    (execution.context(), History::of(execution).unwrap())
}

fn actions(trace: &ExecutionTrace) -> Vec<&str> {
    trace.steps.iter().map(|step| step.action.as_str()).collect()
}

/// The trace has the creation and every transition, with node, result and metadata.
#[test]
fn every_step_is_there() {
    let execution = long(1);
    let id = execution.id();
    let trace = ExecutionTrace::of(&[read_from(&execution)], 50);
    assert_eq!(trace.omitted, 0);
    assert_eq!(
        actions(&trace),
        [
            format!("create_contract:{id}"),
            format!("transition:{id}:pending->running"),
            format!("transition:{id}:running->waiting"),
            format!("transition:{id}:waiting->running"),
            format!("transition:{id}:running->completed"),
        ]
    );
    let nodes: Vec<_> = trace.steps.iter().map(|step| step.node_id.as_str()).collect();
    assert_eq!(nodes, ["reasoning", "tool_node", "ecs_node", "graph_runner", "tool_node"]);
    let results: Vec<_> = trace.steps.iter().map(|step| step.result.as_deref()).collect();
    assert_eq!(results, [None, None, None, None, Some("42 lines")]);
    assert_eq!(
        trace.steps[4].metadata,
        json!({
            "trigger": "succeed", "actor": "tool_node", "actor_name": "test", "contract_id": id,
            "irreversible": false,
        })
    );
}

/// Omitted steps are counted; the newest steps stay.
#[test]
fn omitted_lines_are_counted() {
    let execution = long(30);
    let id = execution.id();
    let executions = [read_from(&execution)];
    let whole = ExecutionTrace::of(&executions, usize::MAX);
    assert_eq!((whole.steps.len(), whole.omitted), (63, 0));
    for cap in [0, 1, 50, 62, 63, 64] {
        let trace = ExecutionTrace::of(&executions, cap);
        assert_eq!(trace.steps.len() + trace.omitted, 63, "cap {cap}");
        assert_eq!(trace.steps.len(), cap.min(63));
        let newest: Vec<TraceStep> = whole.steps[trace.omitted..].to_vec();
        assert_eq!(trace.steps, newest);
    }
    let last = ExecutionTrace::of(&executions, 1);
    assert_eq!(actions(&last), [format!("transition:{id}:running->completed")]);
}

/// The cap applies per contract; the steps of all contracts are in chronological order.
#[test]
fn the_cap_is_for_each_contract() {
    let moved = |rounds, shift| {
        let mut claim = forge::claim(&long(rounds));
        let start = claim.journal[0].at + shift;
        claim.journal.iter_mut().zip(0..).for_each(|(entry, step)| entry.at = start + step * 10);
        forge::cross_execution(claim).unwrap()
    };
    let (late, early) = (moved(5, 3), moved(1, 0));
    let trace = ExecutionTrace::of(&[read_from(&late), read_from(&early)], 4);
    assert_eq!((trace.steps.len(), trace.omitted), (8, 9 + 1));
    assert!(trace.steps.is_sorted_by_key(|step| step.at));
}

/// Holds and permits are not steps, and a rejection has its reason as the result.
#[test]
fn an_irreversible_action_is_marked() {
    let pending = AnyExecution::from(pending_mail("bob"));
    let trace = ExecutionTrace::of(&[read_from(&pending)], 50);
    assert_eq!(trace.steps[0].metadata["irreversible"], true);
    assert_eq!(trace.steps[0].metadata["trigger"], json!(null));
    let rejected =
        Execution::new(mail("bob")).start(tool_node()).reject("denied".into(), tool_node());
    let rejected = AnyExecution::from(rejected);
    let trace = ExecutionTrace::of(&[read_from(&rejected)], 50);
    assert_eq!(trace.steps[2].result.as_deref(), Some("denied"));
}

/// The trace is for diagnosis, so it names who acted: of an approval the person, and of a retry who
/// decided it.
#[tokio::test]
async fn a_trace_names_the_actors() {
    let store = Store::memory();
    let (gate, _) = approved(&store, mail("bob")).await;
    let gate = load(&store, gate).await;
    let history = store.history(gate.id()).await.unwrap();
    let trace = ExecutionTrace::of(&[(gate.context(), history)], 50);
    let who: Vec<_> = trace
        .steps
        .iter()
        .map(|step| (step.node_id.as_str(), step.metadata["actor_name"].as_str()))
        .collect();
    // The answer itself is a separate fact, and no transition; the store completes the gate.
    assert_eq!(
        who,
        [
            ("reasoning", Some("test")),
            ("ecs_node", Some("test")),
            ("ecs_node", Some("test")),
            ("graph_runner", None),
            ("graph_runner", None),
        ]
    );
    let failed = Execution::new(mail("bob")).start(tool_node()).fail("x".into(), None, tool_node());
    let retry = AnyExecution::from(Execution::new(Contract::retry(&failed, ann())));
    let trace = ExecutionTrace::of(&[read_from(&retry)], 50);
    assert_eq!(trace.steps[0].node_id, "human");
    assert_eq!(trace.steps[0].metadata["actor_name"], "ann");
}
