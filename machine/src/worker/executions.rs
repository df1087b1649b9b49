//! Drives executions: runs their tools, and looks after those that were interrupted.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use super::{
    Failure, Handler, Next, Task,
    calls::{Calls, Report},
    handler::Elsewhere,
    tools::{Began, Runner},
};
use crate::{
    __private::who,
    actor::{Actors, Sender},
    contract::{
        AnyExecution, Execution, InDoubt, Liveness, Progress, close,
        execution::{Pending, Running},
        settled_at,
    },
    effects::recover::Found,
    id::Id,
    store::{CommitError, Store},
};

/// The delay before an execution that another worker runs is checked again.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// The delay before a service is asked again for the outcome of a call.
const ASK_AGAIN: Duration = Duration::from_mins(1);

/// The tools of a worker.
pub(super) struct Executions {
    pub(super) actors: Arc<Actors>,
    /// By name, such as `email.send`.
    pub(super) tools: BTreeMap<String, Arc<dyn Runner>>,
    /// For tools that are known at run time only.
    pub(super) others: Option<Arc<dyn Runner>>,
    pub(super) calls: Arc<Calls>,
    /// When services were last asked about executions before "not applied" counts.
    pub(super) asked: Mutex<BTreeMap<Id, Duration>>,
}

impl Executions {
    fn runner(&self, execution: &Execution<impl Sized>) -> Result<&Arc<dyn Runner>, Failure> {
        let action = execution.context().action();
        let Some(name) = action.tool_name() else {
            return Err("it calls no tool; the program that created it moves it on".into());
        };
        let runner = self.tools.get(&name).or(self.others.as_ref());
        runner.ok_or_else(|| {
            let why = format!("this worker has no tool `{name}`; register it with `Worker::tool`");
            Elsewhere(why).into()
        })
    }

    async fn begin(
        &self,
        pending: Execution<Pending>,
        store: &Store,
    ) -> Result<Next<AnyExecution>, Failure> {
        if let Some(gate) = pending.context().behind() {
            let gate: AnyExecution = store.load(gate).await?;
            if !gate.status().definition().terminal {
                // The gate wakes it.
                return Ok(Next::Wait);
            }
        }
        if pending.context().action().tool_name().is_none() {
            // A question, or another action that the program itself performs.
            return Ok(Next::Wait);
        }
        let runner = Arc::clone(self.runner(&pending)?);
        let (store, by) = (store.clone(), self.actors.tool_node.again());
        let call = async move {
            Ok(match runner.begin(&store, pending, &by).await? {
                Began::Settled(settled) => Report { to_handler: None, settled: Some(settled) },
                other => Report { to_handler: Some(other), settled: None },
            })
        };
        match self.calls.run(call).await? {
            // It is on disk already; what came of it is read again.
            None | Some(Began::Settled(_)) => Ok(Next::Wait),
            Some(Began::Fenced) => Ok(Next::WaitFor(Duration::ZERO)),
            Some(Began::NotBegun(pending, error)) => match error {
                CommitError::AlreadyDone { by, .. } => {
                    Ok(self.close(pending, &format!("{by} has already done it")))
                }
                // It was planned after its gate had ended; any other one ends with its gate.
                CommitError::NeverRuns { gate, status, .. } => {
                    Ok(self.close(pending, &format!("its gate {gate} is {status}")))
                }
                CommitError::ApprovalExpired { gate, .. } => {
                    Ok(self.close(pending, &format!("the approval by {gate} has expired")))
                }
                CommitError::Declined { by, gate, .. } => {
                    Ok(self.close(pending, &format!("{by} has declined it at {gate}")))
                }
                // Its attempt may give the key back.
                CommitError::KeyHeld { .. } => Ok(Next::WaitFor(LOOK_AGAIN)),
                // Another caller has begun or ended it: check again.
                CommitError::Conflict { .. } | CommitError::Deferred { .. } => {
                    Ok(Next::WaitFor(Duration::ZERO))
                }
                error => Err(error.into()),
            },
        }
    }

    /// It ends without being called, in the commit of the worker.
    fn close(&self, pending: Execution<Pending>, reason: &str) -> Next<AnyExecution> {
        let by = &self.actors.tool_node;
        Next::to(close(pending, reason, who(by), by))
    }

    /// Handles an execution whose tool another caller is calling, or was calling when its process ended.
    async fn interrupted(
        &self,
        running: Execution<Running>,
        store: &Store,
    ) -> Result<Next<AnyExecution>, Failure> {
        let progress = Progress::read(&running);
        if progress.permit().is_none() {
            // It was started without a store: its program moves it on.
            return Ok(Next::Wait);
        }
        if running.context().is_irreversible() {
            return Ok(match store.take_over(running.id()).await?? {
                Found::Running => Next::WaitFor(self.patience(store, &progress)),
                Found::InDoubt(_) | Found::Settled(_) | Found::Other => {
                    Next::WaitFor(Duration::ZERO)
                }
            });
        }
        let liveness = store.liveness(&running).await?;
        if liveness == Liveness::Alive && !store.is_overdue(&progress) {
            return Ok(Next::WaitFor(self.patience(store, &progress)));
        }
        let runner = Arc::clone(self.runner(&running)?);
        let (store, by) = (store.clone(), self.actors.tool_node.again());
        let call = async move {
            let settled = runner.again(&store, running, &by).await?;
            Ok(Report { to_handler: settled.is_some(), settled })
        };
        let is_called = self.calls.run(call).await?;
        Ok(if is_called { Next::Wait } else { Next::WaitFor(LOOK_AGAIN) })
    }

    /// The time for which a call by another worker can be left alone.
    #[allow(clippy::unused_self, reason = "it reads like the others")]
    fn patience(&self, store: &Store, progress: &Progress) -> Duration {
        let left =
            progress.unanswered().map(|permit| permit.expires_at.saturating_sub(store.now()));
        let left = left.and_then(|left| u64::try_from(left + 1).ok()).map(Duration::from_millis);
        left.unwrap_or(LOOK_AGAIN).min(LOOK_AGAIN)
    }

    /// A person answers, or its deadline ends it, or its service reports.
    async fn waiting(waiting: &AnyExecution, store: &Store) -> Result<Next<AnyExecution>, Failure> {
        let progress = Progress::of(waiting);
        let Some(limit) = progress.report_by().filter(|_| progress.awaits_report()) else {
            return Ok(Next::Wait);
        };
        // From the next millisecond on it is overdue.
        let left = limit.saturating_sub(store.now()).saturating_add(1);
        if let Ok(left @ 1..) = u64::try_from(left) {
            return Ok(Next::WaitFor(Duration::from_millis(left)));
        }
        store.take_over(waiting.id()).await??;
        Ok(Next::WaitFor(Duration::ZERO))
    }

    /// It is unknown whether it took effect: its worker may answer late, or the service may know.
    async fn in_doubt(&self, doubt: InDoubt, store: &Store) -> Result<Next<AnyExecution>, Failure> {
        let id = doubt.execution().id();
        // This also records that the worker has ended.
        let doubt = match store.take_over(id).await?? {
            Found::InDoubt(doubt) => doubt,
            Found::Settled(_) | Found::Running | Found::Other => {
                return Ok(Next::WaitFor(Duration::ZERO));
            }
        };
        let Some(ended_at) = doubt.progress().ended_at() else {
            // "Applied" counts at any time.
            if let (Ok(runner), true) = (self.runner(doubt.execution()), self.may_ask(id, store)) {
                let is_settled = runner.ask(store, doubt, &self.actors.tool_node).await?;
                return Ok(Next::WaitFor(if is_settled { Duration::ZERO } else { LOOK_AGAIN }));
            }
            return Ok(Next::WaitFor(LOOK_AGAIN));
        };
        let left = settled_at(ended_at, doubt.execution().context().settling_time())
            .saturating_sub(store.now());
        let left = Duration::from_millis(u64::try_from(left).unwrap_or(0));
        let Ok(runner) = self.runner(doubt.execution()) else {
            return Ok(if left.is_zero() { Next::Wait } else { Next::WaitFor(left) });
        };
        // "Applied" counts at any time, and "not applied" only after the settling time.
        let may_ask = left.is_zero() || self.may_ask(id, store);
        if may_ask && runner.ask(store, doubt, &self.actors.tool_node).await? {
            return Ok(Next::WaitFor(Duration::ZERO));
        }
        // A person may know what the service does not; that wakes it.
        Ok(Next::WaitFor(if left.is_zero() { ASK_AGAIN } else { left.min(ASK_AGAIN) }))
    }
}

impl Executions {
    /// Returns whether the service may be asked before "not applied" counts: once per `ASK_AGAIN`.
    fn may_ask(&self, id: Id, store: &Store) -> bool {
        let now = store.uptime();
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.retain(|_, at| now.saturating_sub(*at) < ASK_AGAIN);
        match asked.entry(id) {
            Entry::Occupied(_) => false,
            Entry::Vacant(place) => {
                place.insert(now);
                true
            }
        }
    }
}

impl Handler for Executions {
    type Machine = AnyExecution;

    const __HAS_PERMITS: bool = true;

    async fn handle(
        &self,
        execution: AnyExecution,
        task: &mut Task,
    ) -> Result<Next<AnyExecution>, Failure> {
        let store = task.store().clone();
        match execution {
            AnyExecution::Pending(pending) => self.begin(pending, &store).await,
            AnyExecution::Running(running) => self.interrupted(running, &store).await,
            waiting @ AnyExecution::Waiting(_) => match InDoubt::narrow(waiting) {
                Ok(doubt) => self.in_doubt(doubt, &store).await,
                Err(waiting) => Self::waiting(&waiting, &store).await,
            },
            AnyExecution::Completed(_)
            | AnyExecution::Failed(_)
            | AnyExecution::Rejected(_)
            | AnyExecution::Cancelled(_) => Ok(Next::Wait),
        }
    }

    fn __can_cancel(&self, execution: &AnyExecution) -> bool {
        matches!(execution, AnyExecution::Pending(_))
    }

    #[allow(private_interfaces, reason = "it is only for this library")]
    fn __cancel(
        &self,
        execution: AnyExecution,
        reason: &str,
        by: &Sender,
    ) -> Result<AnyExecution, AnyExecution> {
        match execution {
            AnyExecution::Pending(pending) => {
                Ok(close(pending, reason, who(by), &self.actors.tool_node).into())
            }
            other => Err(other),
        }
    }
}
