//! The machine of a job: who may move it, and its limits. Jobs that run take all its moves.

use std::collections::BTreeSet;

use coding_agent::{
    plan::{
        job::{
            Job, Limits,
            job::{AfterRecover, AfterToolCallResult, AfterUnderstand, DEFINITION},
        },
        trouble::Trouble,
        work::{Occurrence, Work},
    },
    workspace::refusal::Code,
};
use machine::actor::{Actors, Human};

use crate::consent::job_of;

/// OR-1 and OR-2: only a person begins, answers, and confirms. All other states can be given up and
/// cancelled, and have the one deadline of the request.
#[test]
fn people_and_time_move_a_job() {
    let name = |state: usize| &*DEFINITION.states[state].name;
    let edges = || DEFINITION.edges.iter();
    let by_people = edges().filter(|edge| edge.actors.join(", ") == "human");
    let expected = BTreeSet::from([
        ("idle", "user_message"),
        ("clarifying", "clarification_answer"),
        ("awaiting_confirmation", "confirm"),
        ("done", "next_round"),
    ]);
    let by_people = by_people.map(|edge| (name(edge.from), &*edge.trigger));
    assert_eq!(by_people.collect::<BTreeSet<_>>(), expected);

    let states = (0..DEFINITION.states.len()).map(name);
    let active = states.filter(|state| !["idle", "summarizing", "done"].contains(state));
    let ends = active.flat_map(|state| {
        let by = [("give_up", "graph_runner"), ("cancel", ""), ("timeout", "graph_runner")];
        by.map(|(trigger, by)| (state, trigger, by.to_owned(), trigger == "timeout"))
    });
    let found = edges().filter(|edge| name(edge.to) == "summarizing").map(|edge| {
        (name(edge.from), &*edge.trigger, edge.actors.join(", "), edge.deadline.is_some())
    });
    assert!(ends.collect::<BTreeSet<_>>().is_subset(&found.collect()));
    assert_eq!(edges().filter(|edge| edge.deadline.is_some()).count(), 8);
}

/// OR-8, and the number of repairs.
#[test]
fn questions_and_repairs_are_limited() {
    let (actors, ann) = (Actors::issue("desk").unwrap(), Human::new("ann").unwrap());
    let runner = &actors.graph_runner;
    let job = Job::new(Limits::default()).user_message("make it right".to_owned(), &ann);
    let missing = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
    let AfterUnderstand::Clarifying(job) = job.understand(Work::default(), missing, runner) else {
        panic!("four are missing")
    };
    assert_eq!(job.state().questions, ["a", "b", "c"]);

    for (attempt, is_allowed) in [(1, true), (3, true), (4, false)] {
        let trouble = Trouble::new(Code::E_IO, "job", "read-only");
        let job = job_of(None, Work::default());
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
