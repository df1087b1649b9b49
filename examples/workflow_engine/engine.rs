//! What each state of an engine asks for.
//!
//! One engine works on one task. A task that waits for a person for a week keeps its engine, and that is
//! a row in a file; so there is no fixed number of engines: [`submit`](crate::submit::submit) gives a task to one
//! that is idle, or makes another one. A worker drives all of them at the same time.
//!
//! A task has a record of its own. When the engine lets go of the task, it sends the record its outcome in
//! the batch that makes the engine idle, and the record ends for good.

use std::sync::Arc;

use machine::{
    contract::{Action, InvalidContract, Planned, execution},
    store::Message,
    worker::{Failure, Handler, Next, Task},
};

use crate::{
    agent::{Agent, Brief, Reply},
    calls::{Calls, Made, Progress, TURN},
    condition::{ExecutingCondition, Found, Pause, PlanningCondition},
    plan::{Plan, ProposedCall},
    record::{AnyTaskRecord, Outcome, task_record},
    tools::{ToolError, Tools, Unparseable},
    work::Work,
    workflow::{
        AnyWorkflow, Workflow,
        workflow::{self, Executing, Initializing, Planning},
    },
};

/// How often a step is tried before a person is asked.
pub const ATTEMPTS: usize = 3;

/// Takes the end of a task on record.
#[derive(Debug)]
pub struct Records;

impl Handler for Records {
    type Machine = AnyTaskRecord;

    async fn handle(&self, _: AnyTaskRecord, _: &mut Task) -> Result<Next<AnyTaskRecord>, Failure> {
        Ok(Next::Wait)
    }
}

/// Drives the engines with an agent and its tools.
#[derive(Debug)]
pub struct Driver<A> {
    agent: A,
    tools: Arc<Tools>,
}

impl<A: Agent> Handler for Driver<A> {
    type Machine = AnyWorkflow;

    async fn handle(
        &self,
        engine: AnyWorkflow,
        task: &mut Task,
    ) -> Result<Next<AnyWorkflow>, Failure> {
        match engine {
            AnyWorkflow::Initializing(engine) => self.initialize(engine, task).await,
            AnyWorkflow::Planning(engine) => self.plan(engine, task).await,
            AnyWorkflow::Executing(engine) => self.execute(engine, task).await,
            AnyWorkflow::Completed(engine) => {
                let outcome = Outcome::Completed(engine.state().result.clone());
                let work = engine.state().work.clone();
                finish(engine, outcome, work, task).await
            }
            AnyWorkflow::Failed(engine) => {
                let outcome = Outcome::Failed(engine.state().error.clone());
                let work = engine.state().work.clone();
                finish(engine, outcome, work, task).await
            }
            AnyWorkflow::Terminated(engine) => {
                let outcome = Outcome::Terminated(engine.state().reason.clone());
                let work = engine.state().work.clone();
                finish(engine, outcome, work, task).await
            }
            // A task starts the one, a person moves the other.
            AnyWorkflow::Idle(_) | AnyWorkflow::ManualIntervention(_) => Ok(Next::Wait),
        }
    }
}

impl<A: Agent> Driver<A> {
    /// Drives the engines with this agent and these tools, which the worker runs.
    pub fn new(agent: A, tools: Arc<Tools>) -> Self {
        Self { agent, tools }
    }

    async fn initialize(
        &self,
        engine: Workflow<Initializing>,
        task: &mut Task,
    ) -> Result<Next<AnyWorkflow>, Failure> {
        let goal = engine.state().goal.clone();
        let accepted = self.agent.accept(&goal).await?;
        let runner = &task.actors().graph_runner;
        Ok(match accepted {
            Reply::Can(()) => Next::to(engine.initialization_complete(runner)),
            Reply::Cannot(why) => Next::to(engine.initialization_failed(why, runner)),
        })
    }

    async fn plan(
        &self,
        engine: Workflow<Planning>,
        task: &mut Task,
    ) -> Result<Next<AnyWorkflow>, Failure> {
        let calls = Calls::read(task.store(), &engine.state().work.session()).await?;
        // A person changed the task while a call was under way: its outcome is a part of the history.
        if calls.open().next().is_some() {
            return Ok(Next::Wait);
        }
        let state = engine.state();
        let brief = Brief {
            goal: state.goal.clone(),
            instructions: state.instructions.clone(),
            history: calls.prompt(),
            done: calls.done(),
            tools: self.tools.names(),
        };
        let planned = self.agent.plan(&brief).await?;
        let actors = task.actors();
        let plan = match planned {
            Reply::Can(plan) if plan.steps.is_empty() => {
                let why = "the plan of the agent has no step".to_owned();
                return Ok(Next::to(engine.planning_failed(why, &actors.graph_runner)));
            }
            Reply::Can(plan) => plan,
            Reply::Cannot(why) => {
                return Ok(Next::to(engine.planning_failed(why, &actors.graph_runner)));
            }
        };
        Ok(match self.found_in(&plan) {
            Some(found) => {
                Next::to(engine.pause(found, plan, calls.history(), &actors.graph_runner)?)
            }
            None => Next::to(engine.plan_ready(plan, &actors.reasoning_node)),
        })
    }

    /// What a person has to know of this plan before its first step.
    fn found_in(&self, plan: &Plan) -> Option<Found<PlanningCondition>> {
        let call = &plan.steps.first()?.call;
        let cleared = Some(call.clone());
        if let Some(explanation) = self.tools.violation(call) {
            let condition = PlanningCondition::SecurityViolation;
            return Some(Found { condition, explanation, cleared });
        }
        if let Some((first, second)) = plan.conflict() {
            let explanation = format!("`{}` contradicts `{}`", first.call, second.call);
            let condition = PlanningCondition::Ambiguity;
            return Some(Found { condition, explanation, cleared: None });
        }
        let explanation = self.tools.concern(call)?;
        Some(Found { condition: PlanningCondition::SensitiveAction, explanation, cleared })
    }

    async fn execute(
        &self,
        engine: Workflow<Executing>,
        task: &mut Task,
    ) -> Result<Next<AnyWorkflow>, Failure> {
        let calls = Calls::read(task.store(), &engine.state().work.session()).await?;
        let state = engine.state();
        let Some(step) = state.work.plan.steps.first() else {
            // A person resumed before there was a plan.
            return Ok(Next::to(
                engine.step_complete(calls.history(), &task.actors().graph_runner),
            ));
        };
        let attempts: Vec<&Made> = calls.of_turn(state.work.turn).collect();
        let decision = match attempts.last().map(|attempt| &attempt.progress) {
            Some(Progress::Open) => return Ok(Next::Wait),
            Some(Progress::Succeeded(result)) => Decision::Done(result.clone()),
            Some(Progress::Failed(error)) => after_failure(error, attempts.len()),
            None => Decision::Call,
        };
        let call = match step.call.clone().with_results(&calls.results()) {
            Ok(call) => call,
            Err(tool) => {
                let error =
                    format!("`{}` needs a result of `{tool}`, and there is none", step.title);
                return Ok(Next::to(engine.step_failed(error, &task.actors().graph_runner)));
            }
        };
        let decision = match decision {
            Decision::Call if state.cleared.as_ref() != Some(&call) => self.check(&call),
            decision => decision,
        };
        let runner = &task.actors().graph_runner;
        Ok(match decision {
            Decision::Call => match self.contract(&call, &state.work, task) {
                Ok(planned) => {
                    task.call(planned);
                    Next::Wait
                }
                Err(error) => Next::to(engine.step_failed(error.to_string(), runner)),
            },
            Decision::Done(result) if state.work.plan.steps.len() == 1 => {
                Next::to(engine.execution_complete(result, runner))
            }
            Decision::Done(_) => Next::to(engine.step_complete(calls.history(), runner)),
            Decision::GiveUp(error) => Next::to(engine.step_failed(error, runner)),
            Decision::Ask(condition, explanation) => {
                let mut plan = state.work.plan.clone();
                // The person sees the arguments, not where they come from.
                plan.steps[0].call = call.clone();
                let found = Found { condition, explanation, cleared: Some(call) };
                Next::to(engine.pause(found, plan, calls.history(), runner)?)
            }
        })
    }

    /// Whether a call whose arguments are now known may be made.
    fn check(&self, call: &ProposedCall) -> Decision {
        if let Some(why) = self.tools.violation(call) {
            return Decision::Ask(ExecutingCondition::SecurityViolation, why);
        }
        match self.tools.concern(call) {
            Some(why) => Decision::Ask(ExecutingCondition::SensitiveAction, why),
            None => Decision::Call,
        }
    }

    /// A call in the session of the task. An irreversible one takes place once in a task, however often
    /// the agent plans it.
    fn contract(
        &self,
        call: &ProposedCall,
        work: &Work,
        task: &Task,
    ) -> Result<Planned<Action>, InvalidContract> {
        let actors = task.actors();
        let contract = self.tools.contract(call, &actors.reasoning_node)?;
        let contract = contract.occurrence(&work.session(), &actors.graph_runner)?;
        Planned::new(contract.session(work.session()).note(TURN, work.turn))
    }
}

/// What comes next in a step.
enum Decision {
    Call,
    Done(String),
    GiveUp(String),
    Ask(ExecutingCondition, String),
}

fn after_failure(error: &str, attempts: usize) -> Decision {
    match error.parse() {
        Ok(ToolError::Fatal(reason)) => Decision::GiveUp(reason),
        Ok(ToolError::Retry(_)) if attempts < ATTEMPTS => Decision::Call,
        Ok(ToolError::Retry(reason)) => Decision::Ask(
            ExecutingCondition::HighConfidenceFailure,
            format!("failed {attempts} times in a row: {reason}"),
        ),
        Err(Unparseable) => Decision::Ask(
            ExecutingCondition::HighConfidenceFailure,
            format!("failed with an error that cannot be parsed: {error}"),
        ),
    }
}

/// Lets go of a task: its record ends for good, and calls that were not made never are. The messages for
/// that are in the batch that makes the engine idle.
async fn finish<S: workflow::Finished>(
    engine: Workflow<S>,
    outcome: Outcome,
    work: Work,
    task: &mut Task,
) -> Result<Next<AnyWorkflow>, Failure>
where
    AnyWorkflow: From<Workflow<workflow::Idle>>,
{
    let calls = Calls::read(task.store(), &work.session()).await?;
    let runner = &task.actors().graph_runner;
    let close = task_record::Event::Close { outcome, history: calls.history() };
    let close = Message::new(&close, runner)?;
    let reason = "its task has ended".to_owned();
    let cancel = Message::new(&execution::Event::Cancel { reason }, runner)?;
    let idle = engine.reset(runner);
    for call in calls.open() {
        task.send(call, cancel.clone());
    }
    task.send(work.record, close);
    Ok(Next::to(idle))
}
