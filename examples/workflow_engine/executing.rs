use machine::{
    actor::Actors,
    contract::{Action, Contract, InvalidContract, Planned},
    worker::{Failure, Next, Task},
};

use crate::{
    agent::Agent,
    calls::{Calls, TURN},
    condition::{ExecutingCondition, Found, Pause},
    engine::Driver,
    plan::{ProposedCall, Step},
    tools::{ToolError, Unparseable},
    work::Work,
    workflow::{AnyWorkflow, Workflow, workflow::Executing},
};

/// The number of tries of a step before a person is asked.
const ATTEMPTS: usize = 3;

/// The next decision in a step.
enum Decision {
    /// The call is under way.
    Wait,
    Call(Contract),
    Done(String),
    GiveUp(String),
    Ask(ExecutingCondition, String, ProposedCall),
}

impl<A: Agent> Driver<A> {
    /// EXECUTING: makes the call of the first step, and says what came of it.
    pub(crate) async fn execute(
        &self,
        engine: Workflow<Executing>,
        task: &mut Task,
    ) -> Result<Next<AnyWorkflow>, Failure> {
        let calls = Calls::read(task.store(), &engine.state().work.session()).await?;
        let runner = &task.actors().graph_runner;
        let plan = &engine.state().work.plan;
        let Some(step) = plan.steps.first() else {
            // A person resumed before there was a plan.
            return Ok(Next::to(engine.step_complete(calls.history(), runner)));
        };
        Ok(match self.decide(engine.state(), step, &calls, task.actors()) {
            Decision::Wait => Next::Wait,
            Decision::Call(contract) => {
                task.call(Planned::<Action>::new(contract)?);
                Next::Wait
            }
            Decision::Done(result) if plan.steps.len() == 1 => {
                Next::to(engine.execution_complete(result, runner))
            }
            Decision::Done(_) => Next::to(engine.step_complete(calls.history(), runner)),
            Decision::GiveUp(error) => Next::to(engine.step_failed(error, runner)),
            Decision::Ask(condition, explanation, call) => {
                // The person sees the arguments, not where they come from.
                let mut plan = plan.clone();
                plan.steps.splice(..1, [Step { call: call.clone(), ..step.clone() }]);
                let found = Found { condition, explanation, cleared: Some(call) };
                Next::to(engine.pause(found, plan, calls.history(), runner)?)
            }
        })
    }

    fn decide(&self, state: &Executing, step: &Step, calls: &Calls, actors: &Actors) -> Decision {
        use ExecutingCondition::{HighConfidenceFailure, SecurityViolation, SensitiveAction};

        // Also one that was under way when a person paused.
        if calls.are_open() {
            return Decision::Wait;
        }
        if let Some(result) = calls.result_since(state.work.step) {
            return Decision::Done(result.to_owned());
        }
        let (attempts, error) = calls.of_turn(state.work.turn);
        let call = match step.call.clone().with_results(&calls.results()) {
            Ok(call) => call,
            Err(tool) => {
                let title = &step.title;
                let error = format!("`{title}` needs a result of `{tool}`, and there is none");
                return Decision::GiveUp(error);
            }
        };
        match error.map(str::parse) {
            None => {}
            Some(Ok(ToolError::Retry(_))) if attempts < ATTEMPTS => {}
            Some(Ok(ToolError::Retry(reason))) => {
                let why = format!("failed {attempts} times in a row: {reason}");
                return Decision::Ask(HighConfidenceFailure, why, call);
            }
            Some(Ok(ToolError::Fatal(reason))) => return Decision::GiveUp(reason),
            Some(Err(Unparseable(text))) => {
                let why = format!("failed with an error that cannot be parsed: {text}");
                return Decision::Ask(HighConfidenceFailure, why, call);
            }
        }
        if state.cleared.as_ref() != Some(&call) {
            if let Some(why) = self.tools.violation(&call) {
                return Decision::Ask(SecurityViolation, why, call);
            }
            if let Some(why) = self.tools.concern(&call) {
                return Decision::Ask(SensitiveAction, why, call);
            }
        }
        match self.contract(&call, &state.work, actors) {
            Ok(contract) if calls.have(&contract) => {
                let why = "it took place before, and is not repeated".to_owned();
                Decision::Ask(HighConfidenceFailure, why, call)
            }
            Ok(contract) => Decision::Call(contract),
            Err(error) => Decision::GiveUp(error.to_string()),
        }
    }

    /// A call in the session of the task. An irreversible one is made once in a task, however often
    /// the agent plans it.
    fn contract(
        &self,
        call: &ProposedCall,
        work: &Work,
        actors: &Actors,
    ) -> Result<Contract, InvalidContract> {
        let contract = self.tools.contract(call, &actors.reasoning_node)?;
        let contract = contract.occurrence(&work.session(), &actors.graph_runner)?;
        Ok(contract.session(work.session()).note(TURN, work.turn))
    }
}
