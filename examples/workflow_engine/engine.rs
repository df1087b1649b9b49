//! The handler of engines: the work of each state.
//!
//! One engine works on one task. A task that waits for a person for a week keeps its engine, and that is
//! a row in a file; so there is no fixed number of engines: [`submit`](crate::submit::submit) gives a task
//! to one that is idle, or makes another one. A worker drives all of them at the same time.
//!
//! A task has a separate record. When the engine has finished the task, it sends the record the outcome in
//! the batch that makes the engine idle, and the record ends for good.

use std::sync::Arc;

use machine::{
    contract::execution,
    store::Message,
    worker::{Failure, Handler, Next, Task},
};

use crate::{
    agent::{Agent, Reply},
    calls::Calls,
    record::{AnyTaskRecord, Outcome, task_record},
    tools::Tools,
    work::Work,
    workflow::{
        AnyWorkflow, Workflow,
        workflow::{Finished, Initializing},
    },
};

/// Drives the engines with an agent and its tools.
#[derive(Debug)]
pub struct Driver<A> {
    pub(crate) agent: A,
    pub(crate) tools: Arc<Tools>,
}

impl<A: Agent> Handler for Driver<A> {
    type Machine = AnyWorkflow;

    async fn handle(
        &self,
        engine: AnyWorkflow,
        task: &mut Task,
    ) -> Result<Next<AnyWorkflow>, Failure> {
        match engine {
            // A task starts the one, a person moves the other.
            AnyWorkflow::Idle(_) | AnyWorkflow::ManualIntervention(_) => Ok(Next::Wait),
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
}

/// Lets go of a task: its record ends for good, and calls that have not begun never do. The messages for
/// that are in the batch that makes the engine idle.
async fn finish<S: Finished>(
    engine: Workflow<S>,
    outcome: Outcome,
    work: Work,
    task: &mut Task,
) -> Result<Next<AnyWorkflow>, Failure> {
    let calls = Calls::read(task.store(), &work.session()).await?;
    let runner = &task.actors().graph_runner;
    let close = task_record::Event::Close { outcome, history: calls.account() };
    let close = Message::new(&close, runner)?;
    let reason = "its task has ended".to_owned();
    let cancel = Message::new(&execution::Event::Cancel { reason }, runner)?;
    let idle = engine.reset(runner);
    for call in calls.pending() {
        task.send(call, cancel.clone());
    }
    task.send(work.record, close);
    Ok(Next::to(idle))
}

/// Records the end of a task.
#[derive(Debug)]
pub struct Records;

impl Handler for Records {
    type Machine = AnyTaskRecord;

    async fn handle(&self, _: AnyTaskRecord, _: &mut Task) -> Result<Next<AnyTaskRecord>, Failure> {
        Ok(Next::Wait)
    }
}
