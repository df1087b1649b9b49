//! Drives executions: runs their tools, and recovers interrupted ones.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::{Arc, Mutex},
    time::Duration,
};

use super::{
    Failure, Handled, Handler, Next, Task,
    calls::{CallReport, Calls},
    handler::UnsupportedHere,
    parent::comes_first,
    tools::{Began, Runner},
};
use crate::{
    actor::Actors,
    actor::who::who,
    contract::{
        AnyExecution, Closing, Execution, InDoubt, Progress, close,
        execution::{Pending, Running},
    },
    effects::{error::EffectError, recover::UnansweredCall},
    id::Id,
    process::Liveness,
    store::{CommitError, Store, lock::lock},
};

/// The delay before an execution that another worker runs, or whose parent comes first, is checked
/// again.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// The delay before a service is asked again for the outcome of a call.
const ASK_AGAIN: Duration = Duration::from_mins(1);

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
            return Err("it calls no tool; only the program that created it advances it".into());
        };
        let runner = self.tools.get(&name).or(self.others.as_ref());
        runner.ok_or_else(|| {
            let why = format!("this worker has no tool `{name}`; register it with `Worker::tool`");
            UnsupportedHere(why).into()
        })
    }

    async fn begin(&self, pending: Execution<Pending>, task: &Task) -> Handled<AnyExecution> {
        let store = task.store();
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
        if comes_first(store, &pending).await? {
            return Ok(Next::WaitFor(LOOK_AGAIN));
        }
        if task.is_stopping() {
            // It is handed back.
            return Ok(Next::WaitFor(Duration::ZERO));
        }
        let (gates, store, by) = (store, store.clone(), self.actors.tool_node.again());
        let call = async move {
            Ok(match runner.begin(&store, pending, &by).await? {
                Began::Settled(settled) => CallReport { to_handler: None, settled: Some(settled) },
                other => CallReport { to_handler: Some(other), settled: None },
            })
        };
        let (pending, error) = match self.calls.run(call).await? {
            // It is on disk already; the next pass reads the result.
            None | Some(Began::Settled(_)) => return Ok(Next::Wait),
            Some(Began::Fenced) => return Ok(Next::WaitFor(Duration::ZERO)),
            Some(Began::NotBegun(pending, error)) => (pending, error),
        };
        let (reason, cause) = match error {
            EffectError::Commit(CommitError::AlreadyDone { by, .. }) => {
                (format!("{by} has already performed it"), Closing::AlreadyDone { by })
            }
            // It was planned after its gate had ended; any other one ends with its gate.
            EffectError::NeverRuns { gate, status, .. } => {
                (format!("its gate {gate} is {status}"), ended_by(&gates.load(gate).await?))
            }
            EffectError::ApprovalExpired { gate, .. } => {
                (format!("the approval by {gate} has expired"), Closing::Expired)
            }
            EffectError::Declined { by, gate, .. } => {
                (format!("{by} declined it at {gate}"), ended_by(&gates.load(gate).await?))
            }
            // A program that does not know the call has moved its machine.
            EffectError::StateLeft { parent, .. } => (
                format!("{parent} has left the state that made the call"),
                Closing::cancelled(who(&self.actors.tool_node)),
            ),
            // Its attempt may give the key back.
            EffectError::Commit(CommitError::KeyHeld { .. }) => {
                return Ok(Next::WaitFor(LOOK_AGAIN));
            }
            // Another caller has begun or ended it: check again.
            EffectError::Commit(CommitError::Conflict { .. }) | EffectError::Deferred { .. } => {
                return Ok(Next::WaitFor(Duration::ZERO));
            }
            error => return Err(error.into()),
        };
        // It ends without a call, in the commit of the worker.
        let by = &self.actors.tool_node;
        Ok(Next::to(close(pending, (&reason, cause), who(by), by)))
    }

    /// Handles an execution whose tool another caller is calling, or was calling when its process
    /// ended.
    async fn interrupted(&self, running: Execution<Running>, task: &Task) -> Handled<AnyExecution> {
        let store = task.store();
        let progress = Progress::of(&running);
        if progress.permit().is_none() {
            // It was started without a store: its program moves it on.
            return Ok(Next::Wait);
        }
        if running.context().is_irreversible() {
            return Ok(match store.take_over(running.id()).await?? {
                UnansweredCall::Running => Next::WaitFor(Self::patience(store, &progress)),
                UnansweredCall::InDoubt(_) | UnansweredCall::Settled(_) | UnansweredCall::Other => {
                    Next::WaitFor(Duration::ZERO)
                }
            });
        }
        let liveness = store.liveness(&running).await?;
        if liveness == Liveness::Alive && !store.is_overdue(&progress) {
            return Ok(Next::WaitFor(Self::patience(store, &progress)));
        }
        let runner = Arc::clone(self.runner(&running)?);
        if task.is_stopping() {
            return Ok(Next::WaitFor(Duration::ZERO));
        }
        let (store, by) = (store.clone(), self.actors.tool_node.again());
        let call = async move {
            let settled = runner.again(&store, running, &by).await?;
            Ok(CallReport { to_handler: settled.is_some(), settled })
        };
        let is_called = self.calls.run(call).await?;
        Ok(if is_called { Next::Wait } else { Next::WaitFor(LOOK_AGAIN) })
    }

    /// The time for which a call by another worker can be left alone.
    fn patience(store: &Store, progress: &Progress) -> Duration {
        let left =
            progress.unanswered().map(|permit| permit.expires_at.saturating_sub(store.now()));
        let left = left.and_then(|left| u64::try_from(left + 1).ok()).map(Duration::from_millis);
        left.unwrap_or(LOOK_AGAIN).min(LOOK_AGAIN)
    }

    /// A person answers, or its deadline ends it, or its service reports.
    async fn waiting(waiting: &AnyExecution, store: &Store) -> Handled<AnyExecution> {
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
    async fn in_doubt(&self, doubt: InDoubt, store: &Store) -> Handled<AnyExecution> {
        let id = doubt.id();
        // This also records that the worker has ended.
        let doubt = match store.take_over(id).await?? {
            UnansweredCall::InDoubt(doubt) => doubt,
            UnansweredCall::Settled(_) | UnansweredCall::Running | UnansweredCall::Other => {
                return Ok(Next::WaitFor(Duration::ZERO));
            }
        };
        let progress = doubt.progress();
        let Some(ended_at) = progress.ended_at else {
            // "Applied" counts at any time.
            if let (Ok(runner), true) = (self.runner(&doubt), self.may_ask(id, store)) {
                let is_settled = runner.ask(store, doubt, &self.actors.tool_node).await?;
                return Ok(Next::WaitFor(if is_settled { Duration::ZERO } else { LOOK_AGAIN }));
            }
            return Ok(Next::WaitFor(LOOK_AGAIN));
        };
        let settling_time = doubt.context().settling_time();
        let left = progress.settled_at(ended_at, settling_time).saturating_sub(store.now());
        let left = Duration::from_millis(u64::try_from(left).unwrap_or(0));
        let Ok(runner) = self.runner(&doubt) else {
            return Ok(if left.is_zero() { Next::Wait } else { Next::WaitFor(left) });
        };
        // "Applied" counts at any time, and "not applied" only after the settling time.
        let may_ask = left.is_zero() || self.may_ask(id, store);
        if may_ask && runner.ask(store, doubt, &self.actors.tool_node).await? {
            return Ok(Next::WaitFor(Duration::ZERO));
        }
        // A person may know more than the service; an answer wakes it.
        Ok(Next::WaitFor(if left.is_zero() { ASK_AGAIN } else { left.min(ASK_AGAIN) }))
    }

    /// Returns whether the service may be asked before "not applied" counts: once per `ASK_AGAIN`.
    fn may_ask(&self, id: Id, store: &Store) -> bool {
        let now = store.inner.clock.uptime();
        let mut asked = lock(&self.asked);
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

    async fn handle(&self, execution: AnyExecution, task: &mut Task) -> Handled<AnyExecution> {
        match execution {
            AnyExecution::Pending(pending) => self.begin(pending, task).await,
            AnyExecution::Running(running) => self.interrupted(running, task).await,
            waiting @ AnyExecution::Waiting(_) => match InDoubt::narrow(waiting) {
                Ok(doubt) => self.in_doubt(doubt, task.store()).await,
                Err(waiting) => Self::waiting(&waiting, task.store()).await,
            },
            AnyExecution::Completed(_)
            | AnyExecution::Failed(_)
            | AnyExecution::Rejected(_)
            | AnyExecution::Cancelled(_) => Ok(Next::Wait),
        }
    }
}

/// The end of a gate that lets nothing run, as the end of its action.
fn ended_by(gate: &AnyExecution) -> Closing {
    let reason = match gate {
        AnyExecution::Rejected(gate) => &gate.state().reason,
        AnyExecution::Cancelled(gate) => &gate.state().reason,
        _ => "",
    };
    let past = gate.journal().past();
    let trigger = past.last_trigger.as_deref();
    let progress = Progress::of(gate);
    Closing::of_gate(progress.decision.as_ref(), reason, trigger)
}
