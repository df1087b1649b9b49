//! The workflow engine with manual intervention (WF-1, WF-2).

use machine_tests::actors::graph_runner;
use std::{fmt, time::Duration};

use machine::{actor::GraphRunner, machine};
use serde::{Deserialize, Serialize};

use crate::machines::{orchestrator::User, source::Source};

/// Why a person is asked (WF-2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Intervention {
    SensitiveAction,
    HighConfidenceFailure,
    Ambiguity,
    UserRequest,
    PolicyViolation,
}

use Intervention::{
    Ambiguity, HighConfidenceFailure, PolicyViolation, SensitiveAction, UserRequest,
};

/// A condition that cannot arise in this state.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CannotArise {
    condition: Intervention,
    during: &'static str,
}

impl fmt::Display for CannotArise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} cannot arise while {}", self.condition, self.during)
    }
}

fn arises(
    condition: Intervention,
    during: &'static str,
    among: &[Intervention],
) -> Result<(), CannotArise> {
    if among.contains(&condition) { Ok(()) } else { Err(CannotArise { condition, during }) }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "guards borrow the payload")]
fn while_planning(
    _: &workflow::Planning,
    _: &Limits,
    why: &Intervention,
) -> Result<(), CannotArise> {
    arises(*why, "planning", &[SensitiveAction, Ambiguity, UserRequest, PolicyViolation])
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "guards borrow the payload")]
fn while_executing(
    _: &workflow::Executing,
    _: &Limits,
    why: &Intervention,
) -> Result<(), CannotArise> {
    let may = [SensitiveAction, HighConfidenceFailure, UserRequest, PolicyViolation];
    arises(*why, "executing", &may)
}

fn and(mut done: Vec<String>, step: String) -> Vec<String> {
    done.push(step);
    done
}

/// The time limits of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Limits {
    /// From its start to its end, interventions included; `None` for no limit.
    task: Option<Duration>,
}

/// The engine. It runs one task at a time.
#[machine(
    context = Limits,
    fields(task: String, in = Active | Finished),
    fields(done: Vec<String>, in = Planning | Executing | ManualIntervention | Completed),
    fields(reason: String, in = Failed | Terminated),
    on(system_timeout(reason = format!("the task ran out of time while {status}")) => Terminated,
       from = Active, by = GraphRunner, after = context.task),
    on(reset => Idle, from = Finished)
)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Workflow {
    /// Waits for a task.
    #[initial]
    #[stable]
    #[on(start_task(task) => Initializing)]
    Idle,

    /// Loads what the task needs.
    #[group(Active)]
    #[on(initialization_complete(done = Vec::new()) => Planning)]
    #[on(initialization_failed(reason) => Failed)]
    Initializing,

    /// Plans the next step.
    #[group(Active)]
    #[on(plan_ready(step) => Executing)]
    #[on(need_intervention(why, step = None) => ManualIntervention,
         guard = while_planning -> CannotArise)]
    #[on(planning_failed(reason) => Failed)]
    Planning,

    /// Executes one step.
    #[group(Active)]
    #[on(step_complete(done = and(done, step)) => Planning)]
    #[on(need_intervention(why, step = Some(step)) => ManualIntervention,
         guard = while_executing -> CannotArise)]
    #[on(execution_complete(done = and(done, step)) => Completed)]
    #[on(step_failed(reason) => Failed)]
    Executing { step: String },

    /// Waits for a person.
    #[group(Active)]
    #[stable]
    #[on(user_resume(step = step.unwrap_or_else(|| "as planned".to_owned())) => Executing, by = User)]
    #[on(user_modify(instructions: String) => Planning, by = User)]
    #[on(user_terminate(reason) => Terminated, by = User)]
    ManualIntervention {
        /// The proposed action.
        step: Option<String>,
        why: Intervention,
    },

    /// The task is done.
    #[group(Finished)]
    Completed,

    /// The task failed.
    #[group(Finished)]
    Failed,

    /// Ended by a person or by the system.
    #[group(Finished)]
    Terminated,
}

pub(crate) use workflow::DEFINITION;

#[test]
fn the_table_is_that_of_the_source() {
    Source {
        states: &[
            "idle",
            "initializing",
            "planning",
            "executing",
            "manual_intervention",
            "completed",
            "failed",
            "terminated",
        ],
        initial: "idle",
        terminal: &[],
        stable: &["idle", "manual_intervention"],
        rows: &[
            ("idle", "start_task", "initializing"),
            ("initializing", "initialization_complete", "planning"),
            ("initializing", "initialization_failed", "failed"),
            ("planning", "plan_ready", "executing"),
            ("planning", "need_intervention", "manual_intervention"),
            ("planning", "planning_failed", "failed"),
            ("executing", "step_complete", "planning"),
            ("executing", "need_intervention", "manual_intervention"),
            ("executing", "execution_complete", "completed"),
            ("executing", "step_failed", "failed"),
            ("manual_intervention", "user_resume", "executing"),
            ("manual_intervention", "user_modify", "planning"),
            ("manual_intervention", "user_terminate", "terminated"),
            ("initializing", "system_timeout", "terminated"),
            ("planning", "system_timeout", "terminated"),
            ("executing", "system_timeout", "terminated"),
            ("manual_intervention", "system_timeout", "terminated"),
            ("completed", "reset", "idle"),
            ("failed", "reset", "idle"),
            ("terminated", "reset", "idle"),
        ],
        deadlines: &[
            ("initializing", "system_timeout", "context.task"),
            ("planning", "system_timeout", "context.task"),
            ("executing", "system_timeout", "context.task"),
            ("manual_intervention", "system_timeout", "context.task"),
        ],
    }
    .matches(DEFINITION);
}

fn planning() -> Workflow<workflow::Planning> {
    let limits = Limits { task: Some(Duration::from_hours(1)) };
    Workflow::new(limits).start_task("tidy up".to_owned()).initialization_complete()
}

/// The deadline is that of the task, whichever state it is in.
#[test]
fn typed_a_task_has_one_deadline() {
    let executing = planning().plan_ready("read".to_owned());
    let deadlines: Vec<_> = executing.deadlines().map(|one| (one.trigger, one.after)).collect();
    assert_eq!(deadlines, [("system_timeout", Duration::from_hours(1))]);
    let group = &DEFINITION.groups[0];
    assert_eq!((&*group.name, group.states.len()), ("Active", 4));
    assert!(
        DEFINITION
            .edges
            .iter()
            .filter_map(|edge| edge.deadline.as_ref())
            .all(|one| { one.group == Some(0) })
    );
    let terminated = executing.system_timeout(graph_runner());
    assert_eq!(terminated.state().reason, "the task ran out of time while executing");
    assert_eq!(terminated.deadlines().count(), 0);

    let unlimited = Workflow::new(Limits { task: None }).start_task("tidy up".to_owned());
    assert_eq!(unlimited.deadlines().count(), 0);
}

#[test]
fn typed_the_engine_is_idle_again_after_a_task() {
    let executing = planning().plan_ready("read".to_owned());
    let asked = executing.need_intervention(HighConfidenceFailure).unwrap();
    assert_eq!(asked.state().step.as_deref(), Some("read"));
    let planning = asked.user_modify("skip the archive".to_owned(), &User);
    let planning = planning.plan_ready("sort".to_owned()).step_complete();
    assert_eq!(planning.state().done, ["sort"]);
    let completed = planning.plan_ready("write".to_owned()).execution_complete();
    assert_eq!(completed.state().done, ["sort", "write"]);
    let task = completed.state().task.clone();
    let idle = completed.reset();
    assert_eq!((task.as_str(), idle.state()), ("tidy up", &workflow::Idle));
}

/// WF-2, the whole table: which condition may arise in which state.
#[test]
fn a_condition_arises_only_where_it_may() {
    let table = [
        (SensitiveAction, true, true),
        (HighConfidenceFailure, false, true),
        (Ambiguity, true, false),
        (UserRequest, true, true),
        (PolicyViolation, true, true),
    ];
    for (why, may_planning, may_executing) in table {
        let asked = planning().need_intervention(why);
        assert_eq!(asked.is_ok(), may_planning, "{why:?} while planning");
        if let Err(refused) = asked {
            let reason = CannotArise { condition: why, during: "planning" };
            assert_eq!(refused.reason, reason);
            // The machine is as it was.
            assert_eq!(refused.machine.plan_ready("read".to_owned()).state().step, "read");
        }
        let asked = planning().plan_ready("read".to_owned()).need_intervention(why);
        assert_eq!(asked.is_ok(), may_executing, "{why:?} while executing");
    }
}
