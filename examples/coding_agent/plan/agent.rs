use std::{
    mem,
    ops::ControlFlow::{self, Break, Continue},
    sync::{Arc, Mutex},
    time::Duration,
};

use machine::{contract::Idempotent, prelude::*};
use tokio::time::sleep;

use super::{
    hands::{Act, Deed, lock},
    job::{
        AnyJob, Job, Limits,
        job::{
            Active, ContextBuilding, Executing, Handle, Intake, Planning, Recovering, Summarizing,
            Verifying,
        },
    },
    model::{Call, Plan, Risk},
    trouble::Trouble,
    work::{CallResult, Reading, Work},
};
use crate::{
    commands::runner::Commands,
    planner::{Brief, Planner, Rung},
    workspace::{
        edits::Workspace,
        refusal::{Code, Refusal},
        set::Digest,
        tools::Lookup,
    },
};

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
        let mut brief = self.brief(&job)?;
        brief.work.risk = (self.rate)(&brief.goal);
        if brief.work.lines == 0 {
            brief.work.lines = brief.goal.split('\n').count();
        }
        match self.planner.questions(&brief).await? {
            Ok(missing) => {
                let runner = &task.actors().graph_runner;
                Ok(Next::to(job.understand(brief.work, missing, runner)))
            }
            Err(trouble) => given_up(job, trouble, task),
        }
    }

    async fn context_building(&self, job: Job<ContextBuilding>, task: &mut Task) -> Decision {
        let (mut brief, limits) = (self.brief(&job)?, job.context().clone());
        let reads = match self.planner.reads(&brief).await? {
            Ok(reads) => reads,
            Err(trouble) => return given_up(job, trouble, task),
        };
        for tool in reads {
            // A planner reads the error, too.
            let _ = self.read(&mut brief.work, tool, &limits).await;
        }
        Ok(Next::to(job.context_built(brief.work, &task.actors().graph_runner)))
    }

    async fn planning(&self, job: Job<Planning>, task: &mut Task) -> Decision {
        let (brief, id, now) = (self.brief(&job)?, task.id(), task.store().now());
        let reply = self.planner.plan(&brief).await?;
        let checked = reply.and_then(|plan| match plan.fault() {
            Some(fault) => Err(Trouble::new(Code::E_MODEL, id, fault)),
            None => Ok(Plan { goal: brief.goal, ..plan }),
        });
        let (plan, mut work) = match checked {
            Ok(plan) => (plan, brief.work),
            Err(trouble) => return given_up(job, trouble, task),
        };
        work.begin(plan, format!("{id}-{now}"), now);
        let (sets, _) = lock(&self.workspace).plan_each(&work.plan.edits());
        work.shown = sets.iter().filter_map(|set| Digest::of_call(set).ok()).collect();
        Ok(Next::to(job.plan_ready(work, &task.actors().reasoning_node)))
    }

    async fn executing(
        &self,
        job: Job<Executing>,
        outcomes: Vec<Outcome<Act>>,
        task: &mut Task,
    ) -> Decision {
        let (mut work, runner) = (job.work().clone(), &task.actors().graph_runner);
        let ended = job.state().act.clone().zip(outcomes.into_iter().next());
        Ok(match self.visit(&mut work, ended, task.id(), job.context()).await {
            Break(act) => Next::to(job.tool_call_request(Some(act), runner)),
            Continue(result) => Next::to(job.tool_call_result(result, work, runner)),
        })
    }

    async fn verifying(
        &self,
        job: Job<Verifying>,
        outcomes: Vec<Outcome<Act>>,
        task: &mut Task,
    ) -> Decision {
        let (mut work, runner) = (job.work().clone(), &task.actors().graph_runner);
        let ended = job.state().act.clone().zip(outcomes.into_iter().next());
        Ok(match self.visit(&mut work, ended, task.id(), job.context()).await {
            Break(act) => Next::to(job.check_request(Some(act), runner)),
            Continue(result) => {
                let result = work.take_check(result);
                Next::to(job.verified(result, work, runner))
            }
        })
    }

    async fn recovering(&self, job: Job<Recovering>, task: &mut Task) -> Decision {
        let (mut brief, limits) = (self.brief(&job)?, job.context().clone());
        let trouble = job.state().trouble.clone();
        for Reading { tool, .. } in mem::take(&mut brief.work.readings) {
            // The files may have changed since then.
            let _ = self.read(&mut brief.work, tool, &limits).await;
        }
        let (attempt, mut repair) = (brief.work.at.attempt, None);
        brief.work.at.attempt += 1;
        for (number, rung) in (0..).zip([Rung::Smallest, Rung::RollBack, Rung::Replan]) {
            let is_possible = rung != Rung::RollBack || brief.work.undoable().is_some();
            if number < attempt.min(2) || attempt >= limits.repairs || !is_possible {
                continue;
            }
            match self.planner.repair(&brief, &trouble, rung).await? {
                Ok(Some(steps)) => {
                    brief.work.repair(steps, rung);
                    repair = Some(brief.work);
                    break;
                }
                Ok(None) => {}
                Err(trouble) => return given_up(job, trouble, task),
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
    fn brief<S: Active>(&self, job: &Job<S>) -> Result<Brief, Refusal> {
        let (files, _) = lock(&self.workspace).folder.files(None)?;
        let visit = format!("{}-{}", job.id(), job.journal().summary().entered);
        Ok(Brief { visit, goal: job.goal().clone(), work: job.work().clone(), files })
    }

    /// What a visit comes to: the act that it makes, or how its call has ended.
    async fn visit(
        &self,
        work: &mut Work,
        ended: Option<(Act, Outcome<Act>)>,
        job: Id,
        limits: &Limits,
    ) -> ControlFlow<Act, CallResult> {
        let next = match ended {
            // It was in doubt, and did not take effect: it is made again.
            Some((act, Err(CallError::NotApplied(_)))) => return Break(act),
            Some((act, outcome)) => return Continue(work.take(&act, outcome)),
            None => self.next_act(work, job),
        };
        let result = match (next, work.next_call()) {
            (Ok(Some(act)), _) => return Break(act),
            (Ok(None), Some(Call::Read(tool))) => {
                self.read(work, Lookup::Read(tool), limits).await.map(|()| work.advance())
            }
            (next, _) => next.map(drop),
        };
        Continue(result.map_err(|refusal| Trouble::new(refusal.code, &work.at, refusal)))
    }

    async fn read(&self, work: &mut Work, tool: Lookup, limits: &Limits) -> Result<(), Refusal> {
        let pauses = &limits.pauses;
        let result = match &tool {
            Lookup::Read(it) => retry(it, pauses, |it| lock(&self.workspace).read(it)).await,
            Lookup::Search(it) => retry(it, pauses, |it| lock(&self.workspace).search(it)).await,
        };
        let failed = result.as_ref().err().cloned();
        work.know(tool, result, limits.context);
        failed.map_or(Ok(()), Err)
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
            (None, Some(Call::Run(run))) => (Commands::new(&workspace).newest()?, Deed::Run(run)),
            (None, Some(Call::Read(_)) | None) => return Ok(None),
        };
        let (after, is_check) = (after.unwrap_or_default(), work.is_executed());
        Ok(Some(Act { job, after, is_check, deed }))
    }
}

/// The planner has no answer that can be used.
#[allow(clippy::unnecessary_wraps, reason = "it is what a handler returns")]
fn given_up<S: Active>(job: Job<S>, trouble: Trouble, task: &Task) -> Decision {
    Ok(Next::to(job.give_up(Some(trouble), &task.actors().graph_runner)))
}

/// Reads, and tries again after each pause if the system has failed:
///
/// ```
/// use coding_agent::{plan::agent::retry, workspace::{refusal::Refusal, tools::Read}};
///
/// async fn twice(tool: &Read, read: fn(&Read) -> Result<String, Refusal>) -> Option<String> {
///     retry(tool, &[], read).await.ok()
/// }
/// ```
///
/// A call that edits or runs is not repeated. It does not compile:
///
/// ```compile_fail
/// use coding_agent::{plan::{agent::retry, hands::{Act, Receipt}}, workspace::refusal::Refusal};
///
/// async fn twice(tool: &Act, make: fn(&Act) -> Result<Receipt, Refusal>) -> Option<Receipt> {
///     retry(tool, &[], make).await.ok()
/// }
/// ```
pub async fn retry<T: Tool<Effect = Idempotent>, R>(
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
