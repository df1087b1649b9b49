//! The handler of engines: the work of each state.
//!
//! One engine works on one task. A task that waits for a person for a week keeps its engine, and
//! that is a row in a file; so there is no fixed number of engines:
//! [`submit`](crate::submit::submit) gives a task to one that is idle, or makes another one. A
//! worker drives all of them at the same time.
//!
//! A task has a separate record. When the engine has finished the task, it sends the record the
//! outcome in the batch that makes the engine idle, and the record ends permanently.

use std::sync::Arc;

use machine::{
    contract::{Registry, ToolCall},
    prelude::*,
};

use crate::{
    agent::{Agent, Reply},
    policy::Policy,
    record::{self, task_record},
    work::history,
    workflow::{
        AnyWorkflow, Workflow,
        workflow::{
            Completed, Executing, Failed, Finished, Handle, Initializing, Planning, Terminated,
        },
    },
};

/// The work of engines, with an agent, its tools, and a policy for them.
#[derive(Debug)]
pub struct Engine<A> {
    pub agent: A,
    pub tools: Arc<Registry>,
    pub policy: Policy,
}

/// What a state makes of an engine.
pub type Decision = Handled<AnyWorkflow>;

impl<A: Agent> Handle for Engine<A> {
    async fn initializing(&self, engine: Workflow<Initializing>, task: &mut Task) -> Decision {
        let goal = engine.goal().clone();
        let accepted = self.agent.accept(&goal).await?;
        let runner = &task.actors().graph_runner;
        Ok(match accepted {
            Reply::Can(()) => Next::to(engine.initialization_complete(runner)),
            Reply::Cannot(why) => Next::to(engine.initialization_failed(why, runner)),
        })
    }

    async fn planning(&self, engine: Workflow<Planning>, task: &mut Task) -> Decision {
        self.plan(engine, task).await
    }

    async fn executing(
        &self,
        engine: Workflow<Executing>,
        outcomes: Vec<Outcome<ToolCall>>,
        task: &mut Task,
    ) -> Decision {
        self.execute(engine, outcomes.into_iter().next(), task).await
    }

    async fn completed(&self, engine: Workflow<Completed>, task: &mut Task) -> Decision {
        let outcome = record::Outcome::Completed(engine.state().result.clone());
        finish(engine, outcome, task).await
    }

    async fn failed(&self, engine: Workflow<Failed>, task: &mut Task) -> Decision {
        let outcome = record::Outcome::Failed(engine.state().error.clone());
        finish(engine, outcome, task).await
    }

    async fn terminated(&self, engine: Workflow<Terminated>, task: &mut Task) -> Decision {
        let outcome = record::Outcome::Terminated(engine.state().reason.clone());
        finish(engine, outcome, task).await
    }
}

/// Lets go of a task: its record ends permanently. The message for that is in the batch that makes
/// the engine idle.
async fn finish<S: Finished>(
    engine: Workflow<S>,
    outcome: record::Outcome,
    task: &mut Task,
) -> Decision {
    let work = engine.work().clone();
    let history = history(&work.calls(task).await?);
    let runner = &task.actors().graph_runner;
    let close = Message::new(&task_record::Event::Close { outcome, history }, runner)?;
    let idle = engine.reset(runner);
    task.send(work.record, close);
    Ok(Next::to(idle))
}
