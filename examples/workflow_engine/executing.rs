use machine::{
    contract::{CallError, Outcome, ToolCall},
    worker::{Next, Task},
};
use serde_json::Value;

use crate::{
    agent::Agent,
    condition::{
        Case,
        ExecutingCondition::{self, HighConfidenceFailure, SecurityViolation, SensitiveAction},
    },
    engine::{Decision, Engine},
    plan::ProposedCall,
    policy::{FATAL, RETRY},
    work::{Ready, TaskCall, Work, history, result_of},
    workflow::{Workflow, workflow::Executing},
};

/// The number of tries of a step before a person is asked.
const ATTEMPTS: u32 = 3;

impl<A: Agent> Engine<A> {
    /// EXECUTING: reports the outcome of the first step, or what was in its way.
    pub(crate) async fn execute(
        &self,
        engine: Workflow<Executing>,
        outcome: Option<Outcome<ToolCall>>,
        task: &mut Task,
    ) -> Decision {
        let work = engine.work().clone();
        let calls = work.calls(task).await?;
        let history = history(&calls);
        let runner = &task.actors().graph_runner;
        let is_last = work.plan.steps.len() == 1;
        Ok(match verdict(outcome, &work.ready, engine.state().failures + 1) {
            Verdict::Done(result) if is_last => Next::to(engine.execution_complete(result, runner)),
            Verdict::Done(_) => {
                let work = self.step_done(work, &calls);
                Next::to(engine.step_complete(history, work, runner))
            }
            Verdict::Nothing => Next::to(engine.step_complete(history, work, runner)),
            Verdict::Retry => Next::to(engine.retry_step(runner)),
            Verdict::GiveUp(error) => Next::to(engine.step_failed(error, runner)),
            Verdict::Ask(condition, explanation, ready) => {
                let proposed_action = work.plan.proposal();
                let case = Case { condition, explanation, proposed_action, history };
                Next::to(case.ask(engine, Work { ready: *ready, ..work }, runner)?)
            }
        })
    }

    /// Goes on with the rest of the plan.
    fn step_done(&self, mut work: Work, calls: &[TaskCall]) -> Work {
        let mut steps = std::mem::take(&mut work.plan.steps).into_iter();
        work.done.extend(steps.next().map(|step| step.call.tool));
        work.plan.steps = steps.collect();
        self.prepare(work, calls, false)
    }

    /// Decides on the first step of the plan. A call that was seen by a person is not checked,
    /// unless results of earlier steps change it.
    pub(crate) fn prepare(&self, mut work: Work, calls: &[TaskCall], is_seen: bool) -> Work {
        let Some(step) = work.plan.steps.first_mut() else {
            return Work { ready: Ready::Nothing, ..work };
        };
        let ready = match step.call.clone().with_results(|tool| result_of(calls, tool)) {
            Ok(call) => {
                let is_seen = is_seen && call == step.call;
                step.call = call;
                self.decide(&step.call, is_seen)
            }
            Err(tool) => {
                let title = &step.title;
                Ready::GiveUp(format!("`{title}` needs a result of `{tool}`, and there is none"))
            }
        };
        Work { ready, ..work }
    }

    fn decide(&self, call: &ProposedCall, is_seen: bool) -> Ready {
        let arguments = Value::Object(call.arguments.clone()).to_string();
        let ready = match self.tools.call(&call.tool, &arguments) {
            Ok(call) => Ready::Call(call),
            Err(error) => Ready::GiveUp(error.to_string()),
        };
        let found = match (self.policy.violation)(call) {
            Some(why) => Some((SecurityViolation, why)),
            None => (self.policy.concern)(call).map(|why| (SensitiveAction, why)),
        };
        match found.filter(|_| !is_seen) {
            Some((condition, why)) => Ready::Ask(condition, why, Box::new(ready)),
            None => ready,
        }
    }
}

enum Verdict {
    Done(String),
    Nothing,
    Retry,
    GiveUp(String),
    /// A person decides, and this is done if they resume.
    Ask(ExecutingCondition, String, Box<Ready>),
}

/// What follows from the outcome of a step or, without one, from what was in its way.
fn verdict(outcome: Option<Outcome<ToolCall>>, ready: &Ready, attempts: u32) -> Verdict {
    let error = match (outcome, ready.clone()) {
        (Some(Ok(result)), _) => return Verdict::Done(result),
        (Some(Err(error)), _) => error,
        (None, Ready::Ask(condition, why, then)) => return Verdict::Ask(condition, why, then),
        (None, Ready::GiveUp(error)) => return Verdict::GiveUp(error),
        (None, Ready::Nothing | Ready::Call(_)) => return Verdict::Nothing,
    };
    let code = match &error {
        CallError::Refused(refusal) => refusal.code.as_deref(),
        _ => None,
    };
    let why = match (&error, code) {
        (_, Some(RETRY)) if attempts < ATTEMPTS => return Verdict::Retry,
        (_, Some(RETRY)) => format!("failed {attempts} times in a row: {error}"),
        (_, Some(FATAL)) => return Verdict::GiveUp(error.to_string()),
        (CallError::AlreadyDone { .. }, _) => {
            "it took effect before, and is not repeated".to_owned()
        }
        _ => format!("failed for a reason that the engine does not know: {error}"),
    };
    Verdict::Ask(HighConfidenceFailure, why, Box::new(ready.clone()))
}
