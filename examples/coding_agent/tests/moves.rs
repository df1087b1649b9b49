//! The machine of a job: its table, and its limits.

use std::collections::BTreeSet;

use coding_agent::{
    plan::{
        job::{
            Job, Limits,
            job::{AfterPlanReady, AfterRecover, AfterToolCallResult, AfterUnderstand, DEFINITION},
        },
        trouble::Trouble,
        work::{Occurrence, Work},
    },
    workspace::refusal::Code,
};
use machine::actor::{Actors, Human};

/// OR-1, with the events of OR-2, and the actors that may make each move.
#[test]
fn a_job_has_these_moves_and_no_others() {
    let active = [
        "intake",
        "clarifying",
        "context_building",
        "planning",
        "awaiting_confirmation",
        "executing",
        "verifying",
        "recovering",
    ];
    let mut expected = BTreeSet::from([
        ("idle", "user_message", "intake", "human"),
        ("intake", "understand", "clarifying", "graph_runner"),
        ("intake", "understand", "context_building", "graph_runner"),
        ("clarifying", "clarification_answer", "intake", "human"),
        ("context_building", "context_built", "planning", "graph_runner"),
        ("planning", "plan_ready", "awaiting_confirmation", "reasoning"),
        ("planning", "plan_ready", "executing", "reasoning"),
        ("awaiting_confirmation", "confirm", "executing", "human"),
        ("awaiting_confirmation", "confirm", "summarizing", "human"),
        ("executing", "tool_call_request", "executing", "graph_runner"),
        ("executing", "tool_call_result", "verifying", "graph_runner"),
        ("executing", "tool_call_result", "executing", "graph_runner"),
        ("executing", "tool_call_result", "recovering", "graph_runner"),
        ("verifying", "check_request", "verifying", "graph_runner"),
        ("verifying", "verified", "summarizing", "graph_runner"),
        ("verifying", "verified", "verifying", "graph_runner"),
        ("verifying", "verified", "recovering", "graph_runner"),
        ("recovering", "recover", "executing", "graph_runner"),
        ("recovering", "recover", "summarizing", "graph_runner"),
        ("summarizing", "summarized", "done", "graph_runner"),
        ("done", "next_round", "idle", "human"),
    ]);
    for state in active {
        let by = [("give_up", "graph_runner"), ("cancel", ""), ("timeout", "graph_runner")];
        expected.extend(by.map(|(trigger, by)| (state, trigger, "summarizing", by)));
    }
    let expected: BTreeSet<_> =
        expected.into_iter().map(|(from, by, to, who)| (from, by, to, who.to_owned())).collect();
    let name = |state: usize| &*DEFINITION.states[state].name;
    let edges = DEFINITION.edges.iter();
    let declared = edges
        .clone()
        .map(|edge| (name(edge.from), &*edge.trigger, name(edge.to), edge.actors.join(", ")));
    assert_eq!(declared.collect::<BTreeSet<_>>(), expected);
    // The whole request has one deadline.
    let timed = edges.filter(|edge| edge.deadline.is_some());
    let timed: Vec<_> = timed.map(|edge| (name(edge.from), &*edge.trigger)).collect();
    assert_eq!(timed.iter().map(|it| it.0).collect::<BTreeSet<_>>(), BTreeSet::from(active));
    assert!(timed.iter().all(|it| it.1 == "timeout"), "{timed:?}");
}

/// OR-8, and the number of repairs.
#[test]
fn questions_and_repairs_are_limited() {
    let (actors, ann) = (Actors::issue("desk").unwrap(), Human::new("ann").unwrap());
    let runner = &actors.graph_runner;
    let limits = || Limits { questions: 3, repairs: 2, ..Limits::default() };
    let intake = || Job::new(limits()).user_message("make it right".to_owned(), &ann);
    let missing = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
    let AfterUnderstand::Clarifying(job) = intake().understand(Work::default(), missing, runner)
    else {
        panic!("four are missing")
    };
    assert_eq!(job.state().questions, ["a", "b", "c"]);

    for (attempt, is_allowed) in [(1, true), (2, true), (3, false)] {
        let AfterUnderstand::ContextBuilding(job) =
            intake().understand(Work::default(), Vec::new(), runner)
        else {
            panic!("nothing is missing")
        };
        let job = job.context_built(Work::default(), runner);
        let AfterPlanReady::Executing(job) =
            job.plan_ready(Work::default(), &actors.reasoning_node)
        else {
            panic!("the plan is harmless")
        };
        let trouble = Trouble::new(Code::E_IO, "job", "read-only");
        let AfterToolCallResult::Recovering(job) =
            job.tool_call_result(Err(trouble.clone()), Work::default(), runner)
        else {
            panic!("the call failed")
        };
        let at = Occurrence { attempt, ..Occurrence::default() };
        match job.recover(Some(Work { at, ..Work::default() }), runner) {
            AfterRecover::Executing(_) => assert!(is_allowed, "repair {attempt}"),
            AfterRecover::Summarizing(job) => {
                assert!(!is_allowed, "repair {attempt}");
                assert_eq!(job.state().blocked, Some(trouble));
            }
        }
    }
}
