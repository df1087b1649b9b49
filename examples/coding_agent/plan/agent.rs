use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use machine::{
    Id,
    contract::{CallError, Idempotent, Outcome, Tool},
    worker::{Handled, Next, Task},
};
use tokio::time::sleep;

use super::{
    hands::{Act, Deed, lock},
    job::{
        AnyJob, Job,
        job::{
            ContextBuilding, Executing, Handle, Intake, Planning, Recovering, Summarizing,
            Verifying,
        },
    },
    model::{Call, Risk},
    planner::{Planner, Rung},
    trouble::Trouble,
    work::Work,
};
use crate::{
    commands::runner::Commands,
    workspace::{
        edits::Workspace,
        refusal::{Code, Refusal},
        set::Digest,
        tools::Read,
    },
};

const NO_PLAN: &str = "it has no step, or no command for a verification that is required";

/// The work of each state of a job.
pub struct Agent<P> {
    pub planner: P,
    pub workspace: Arc<Mutex<Workspace>>,
    /// The policy: the risk of a request.
    pub rate: fn(&str) -> Risk,
}

type Decision = Handled<AnyJob>;

impl<P: Planner> Handle for Agent<P> {
    async fn intake(&self, job: Job<Intake>, task: &mut Task) -> Decision {
        let goal = job.goal().clone();
        let missing = self.planner.questions(&goal).await?;
        let work = Work { risk: (self.rate)(&goal), ..job.work().clone() };
        Ok(Next::to(job.understand(work, missing, &task.actors().graph_runner)))
    }

    async fn context_building(&self, job: Job<ContextBuilding>, task: &mut Task) -> Decision {
        let (goal, mut work) = (job.goal().clone(), job.work().clone());
        let pauses = job.context().pauses.clone();
        for tool in self.planner.reads(&goal).await? {
            let text = self.read(&tool, &pauses).await;
            work.excerpts.push(text.unwrap_or_else(|refusal| refusal.to_string()));
        }
        Ok(Next::to(job.context_built(work, &task.actors().graph_runner)))
    }

    async fn planning(&self, job: Job<Planning>, task: &mut Task) -> Decision {
        let (goal, mut work) = (job.goal().clone(), job.work().clone());
        let (id, now) = (task.id(), task.store().now());
        let plan = self.planner.plan(&goal, &work).await?;
        let actors = task.actors();
        if plan.has_fault() {
            let trouble = Trouble::new(Code::E_MODEL, id, NO_PLAN);
            return Ok(Next::to(job.give_up(Some(trouble), &actors.graph_runner)));
        }
        work.begin(plan, format!("{id}-{now}"), now);
        work.first = self.first_digest(&work, id);
        Ok(Next::to(job.plan_ready(work, &actors.reasoning_node)))
    }

    async fn executing(
        &self,
        job: Job<Executing>,
        outcomes: Vec<Outcome<Act>>,
        task: &mut Task,
    ) -> Decision {
        let (mut work, act) = (job.work().clone(), job.state().act.clone());
        let pauses = job.context().pauses.clone();
        let (id, runner) = (task.id(), &task.actors().graph_runner);
        if let Some((act, outcome)) = act.zip(outcomes.into_iter().next()) {
            if is_not_made(&outcome) {
                return Ok(Next::to(job.tool_call_request(Some(act), runner)));
            }
            let result = work.take(&act, outcome);
            return Ok(Next::to(job.tool_call_result(result, work, runner)));
        }
        let result = match (self.next_act(&work, id), work.next_call()) {
            (Err(refusal), _) => Err(refused(&work, refusal)),
            (Ok(Some(act)), _) => {
                return Ok(Next::to(job.tool_call_request(Some(act), runner)));
            }
            (Ok(None), Some(Call::Read(tool))) => match self.read(&tool, &pauses).await {
                Ok(text) => {
                    work.excerpts.push(text.clone());
                    work.advance();
                    Ok(text)
                }
                Err(refusal) => Err(refused(&work, refusal)),
            },
            (Ok(None), _) => Ok(String::new()),
        };
        Ok(Next::to(job.tool_call_result(result, work, runner)))
    }

    async fn verifying(
        &self,
        job: Job<Verifying>,
        outcomes: Vec<Outcome<Act>>,
        task: &mut Task,
    ) -> Decision {
        let (mut work, act) = (job.work().clone(), job.state().act.clone());
        let (id, runner) = (task.id(), &task.actors().graph_runner);
        let result = match act.zip(outcomes.into_iter().next()) {
            Some((act, outcome)) if is_not_made(&outcome) => {
                return Ok(Next::to(job.check_request(Some(act), runner)));
            }
            Some((act, outcome)) => work.take(&act, outcome),
            None => match self.next_act(&work, id) {
                Ok(Some(act)) => return Ok(Next::to(job.check_request(Some(act), runner))),
                Ok(None) => return Ok(Next::to(job.verified(Ok(String::new()), work, runner))),
                Err(refusal) => Err(refused(&work, refusal)),
            },
        };
        let result = work.take_check(result);
        Ok(Next::to(job.verified(result, work, runner)))
    }

    async fn recovering(&self, job: Job<Recovering>, task: &mut Task) -> Decision {
        let (mut work, trouble) = (job.work().clone(), job.state().trouble.clone());
        let repairs = job.context().repairs;
        let smallest = match work.at.attempt {
            0 => Rung::Smallest,
            1 => Rung::RollBack,
            _ => Rung::Replan,
        };
        work.at.attempt += 1;
        let mut repair = None;
        for rung in [Rung::Smallest, Rung::RollBack, Rung::Replan] {
            let is_possible = rung != Rung::RollBack || work.undoable().is_some();
            if rung < smallest || work.at.attempt > repairs || !is_possible {
                continue;
            }
            if let Some(steps) = self.planner.repair(&work, &trouble, rung).await? {
                work.repair(steps, rung);
                repair = Some(work);
                break;
            }
        }
        Ok(Next::to(job.recover(repair, &task.actors().graph_runner)))
    }

    async fn summarizing(&self, job: Job<Summarizing>, task: &mut Task) -> Decision {
        let summary = job.work().summary(job.state().blocked.as_ref());
        Ok(Next::to(job.summarized(summary, &task.actors().graph_runner)))
    }
}

impl<P: Planner> Agent<P> {
    async fn read(&self, tool: &Read, pauses: &[Duration]) -> Result<String, Refusal> {
        let read = retry(tool, pauses, |tool| lock(&self.workspace).read(tool));
        Ok(read.await?.text)
    }

    /// The act that comes next, if the next call is one. Nothing in the folder changes.
    fn next_act(&self, work: &Work, job: Id) -> Result<Option<Act>, Refusal> {
        let workspace = lock(&self.workspace);
        let newest_set = || workspace.store.numbers().map(|all| all.first().copied());
        let (after, deed) = match (work.undo, work.next_call()) {
            (Some(number), _) => (newest_set()?, Deed::Undo(number)),
            (None, Some(Call::Edit { edits })) => {
                (newest_set()?, Deed::Edit(workspace.plan(&edits)?))
            }
            (None, Some(Call::Run(run))) => {
                let commands = Commands::open(&workspace, Box::new(|_| Ok(())))?;
                (commands.newest()?, Deed::Run(run))
            }
            (None, Some(Call::Read(_)) | None) => return Ok(None),
        };
        Ok(Some(Act { job, after: after.unwrap_or_default(), deed }))
    }

    fn first_digest(&self, work: &Work, job: Id) -> Option<Digest> {
        match self.next_act(work, job).ok()??.deed {
            Deed::Edit(set) => set.digest().ok(),
            Deed::Run(run) => run.digest().ok(),
            Deed::Undo(_) => None,
        }
    }
}

/// A call was in doubt, and did not take effect: it is made again.
fn is_not_made(outcome: &Outcome<Act>) -> bool {
    matches!(outcome, Err(CallError::NotApplied(_)))
}

fn refused(work: &Work, refusal: Refusal) -> Trouble {
    Trouble::new(refusal.code, &work.at, refusal)
}

/// Reads, and tries again after each pause if the system has failed. A tool that writes or runs
/// does not fit.
async fn retry<T: Tool<Effect = Idempotent>, R>(
    tool: &T,
    pauses: &[Duration],
    read: impl Fn(&T) -> Result<R, Refusal>,
) -> Result<R, Refusal> {
    for pause in pauses {
        match read(tool) {
            Err(refusal) if refusal.code == Code::E_IO => sleep(*pause).await,
            result => return result,
        }
    }
    read(tool)
}
