use std::{future::Future, pin::pin, time::Duration};

use futures_util::future::{Either, select};
use serde_json::{Value, json};

use super::{
    ActiveTurn, AgentId, AnyAgentHead, CardId, NewCard, NewDelivery, StopReason, TurnBatch,
    TurnEpoch, TurnRefusal, TurnRequest, TurnRows,
    agent_head::Status,
    decide,
    stored::{Bodies, StoredRows},
};
use crate::{
    clock::Millis,
    contract::bounded,
    id::Id,
    journal::Digest,
    store::Store,
    worker::{Failure, Handled, Handler, Next, Task},
};

/// Does the work of the turns of agents.
///
/// ```
/// use machine::{
///     agent::{ActiveTurn, Agent, AgentId, Deliverable, Driver},
///     worker::{Failure, Task, Worker},
/// };
/// use serde_json::json;
///
/// struct Poets;
///
/// impl Agent for Poets {
///     async fn run(
///         &self,
///         agent: &AgentId,
///         turn: &ActiveTurn,
///         _: &Task,
///     ) -> Result<Deliverable, Failure> {
///         Ok(Deliverable::Done(json!({ "poem": format!("{agent} was here: {}", turn.id) })))
///     }
/// }
///
/// fn drive(worker: Worker) -> Worker {
///     worker.handler(Driver(Poets))
/// }
/// # fn main() {}
/// ```
pub trait Agent: Send + Sync + 'static {
    /// Works on the active turn of an agent, and returns its deliverable. It runs at least once
    /// for a turn: a worker can end at any moment, and another one begins again. Of all that have
    /// run, one delivers. A delivery that fails is repeated without it, by the same worker. When
    /// the turn is [stopped](super::Agents::stop), or its time is up, it is dropped at an `.await`.
    ///
    /// # Errors
    ///
    /// The worker tries again later. The last of its [attempts] is the library's: it stops the
    /// turn, which is delivered with [this reason](super::StopReason::Attempts). Only a worker with
    /// one attempt sets the head aside.
    ///
    /// [attempts]: crate::worker::Worker::attempts
    fn run(
        &self,
        agent: &AgentId,
        turn: &ActiveTurn,
        task: &Task,
    ) -> impl Future<Output = Result<Deliverable, Failure>> + Send;
}

/// The result of a turn, as JSON. The members of an object are its fields.
///
/// A result that lacks a field of [`Terms::result_fields`](super::Terms::result_fields) is
/// delivered as a failure, and so is one of more than [`MAX_CARD`](super::MAX_CARD) bytes.
#[derive(Debug, Clone, PartialEq)]
pub enum Deliverable {
    /// The result.
    Done(Value),
    /// A description of the failure.
    Failed(Value),
}

/// The time between two looks whether a turn that runs is stopped.
const INTERVAL: Duration = Duration::from_secs(1);

/// Drives the heads of all agents of a store: dispatches their turns, claims them, or takes them
/// over, has them run, and delivers.
#[derive(Debug)]
pub struct Driver<A>(pub A);

impl<A: Agent> Handler for Driver<A> {
    type Machine = AnyAgentHead;

    async fn handle(&self, head: AnyAgentHead, task: &mut Task) -> Handled<AnyAgentHead> {
        let store = task.store().clone();
        let agent = head.context().agent.clone();
        let (mut stored, mut bodies) = (StoredRows::of(&head), Bodies::new());
        let batch = if let Some(turn) = head.turn().cloned() {
            let by = TurnEpoch { agent, turn: turn.id, epoch: *head.epoch() };
            match self.step(head.status(), &by, &turn, task).await? {
                Step::Claim => decide(&stored.rows, &TurnRequest::Claim { by })?,
                Step::Reclaim => decide(&stored.rows, &TurnRequest::Reclaim { by })?,
                Step::Stop(why) => {
                    stored.turns(&store, &[turn.id]).await?;
                    stored.children(&store, &turn).await?;
                    decide(&stored.rows, &TurnRequest::Stop { turn: turn.id, why })?
                }
                Step::Deliver(result) => {
                    stored.turns(&store, &[turn.id]).await?;
                    stored.boxes(&store, None).await?;
                    if turn.stop.is_some() {
                        stored.children(&store, &turn).await?;
                    }
                    delivery(&stored.rows, by, result, store.now(), &mut bodies)?
                }
                Step::Wait => return Ok(Next::Wait),
            }
        } else {
            if stored.queue(&store, &agent, 1).await?.is_empty() {
                return Ok(Next::Wait);
            }
            decide(&stored.rows, &TurnRequest::Dispatch { agent, now: store.now() })?
        };
        task.add_records(stored.records(&batch, &bodies));
        Ok(Next::Commit(head.moved(&batch)))
    }
}

/// The next step of an active turn.
enum Step {
    Claim,
    Reclaim,
    Stop(StopReason),
    Deliver(Deliverable),
    /// The turn was stopped, or is about to be by a deadline: the worker calls again.
    Wait,
}

impl<A: Agent> Driver<A> {
    /// Has the turn run, unless it is to be delivered or stopped. A result is paid for: if its rows
    /// cannot be read, or its delivery meets another write, such as a new turn for the same box, it
    /// is delivered again.
    async fn step(
        &self,
        status: Status,
        by: &TurnEpoch,
        turn: &ActiveTurn,
        task: &mut Task,
    ) -> Result<Step, Failure> {
        let kept = task.take_kept().filter(|(of, _): &(TurnEpoch, Deliverable)| of == by);
        let is_running = status == Status::Running;
        if is_running && task.taken_over {
            return Ok(Step::Reclaim);
        }
        let result = match (kept, turn.stop) {
            (Some((_, result)), _) => result,
            (None, None) if turn.task.terms.unreadable => {
                return Ok(Step::Stop(StopReason::Unreadable));
            }
            (None, _) if !is_running => return Ok(Step::Claim),
            (None, Some(why)) => Deliverable::Failed(json!({ "stopped": why.to_string() })),
            (None, None) if task.is_last_attempt(turn.takeovers) => {
                return Ok(Step::Stop(StopReason::Attempts));
            }
            (None, None) => {
                let run = pin!(self.0.run(&by.agent, turn, task));
                let stop = pin!(stopped(task.store(), by, turn.ends_at()));
                let first = select(run, stop).await;
                match first {
                    Either::Left((result, _)) => result?,
                    Either::Right(_) => return Ok(Step::Wait),
                }
            }
        };
        task.keep((by.clone(), result.clone()));
        Ok(Step::Deliver(result))
    }
}

/// Completes when the turn is stopped, or its time is up.
async fn stopped(store: &Store, by: &TurnEpoch, ends_at: Option<Millis>) {
    loop {
        let left = ends_at.map(|at| at.saturating_sub(store.now()).max(0).unsigned_abs());
        let left = left.map_or(INTERVAL, |left| INTERVAL.min(Duration::from_millis(left)));
        store.inner.clock.sleep(left).await;
        if ends_at.is_some_and(|at| at <= store.now()) {
            return;
        }
        let head = store.load::<AnyAgentHead>(by.agent.head()).await;
        let runs = |turn: &ActiveTurn| turn.id == by.turn && turn.stop.is_none();
        // While the storage cannot be read, the turn runs on.
        if head.is_ok_and(|head| !head.turn().is_some_and(runs)) {
            return;
        }
    }
}

/// The batch that delivers a result. One that lacks fields, or is too large, is delivered as a
/// failure: the agent would return it again.
fn delivery(
    rows: &TurnRows,
    by: TurnEpoch,
    result: Deliverable,
    now: Millis,
    bodies: &mut Bodies,
) -> Result<TurnBatch, TurnRefusal> {
    let delivered = deliver(rows, by.clone(), result, now, bodies);
    match delivered {
        Err(refusal @ (TurnRefusal::MissingFields { .. } | TurnRefusal::TooLarge { .. })) => {
            let failed = json!({ "refused": bounded(refusal.to_string()) });
            deliver(rows, by, Deliverable::Failed(failed), now, bodies)
        }
        delivered => delivered,
    }
}

fn deliver(
    rows: &TurnRows,
    by: TurnEpoch,
    result: Deliverable,
    now: Millis,
    bodies: &mut Bodies,
) -> Result<TurnBatch, TurnRefusal> {
    let (is_failure, body) = match result {
        Deliverable::Done(body) => (false, body),
        Deliverable::Failed(body) => (true, body),
    };
    let text = body.to_string();
    let (id, digest) = (CardId(Id::fresh()), Digest::of(&[text.as_bytes()]));
    let deliverable = NewCard { id, digest, size: text.len() as u64 };
    let fields = body.as_object().map(|body| body.keys().cloned().collect()).unwrap_or_default();
    bodies.insert(id, body);
    let results = Vec::new();
    let new = NewDelivery { by, is_failure, deliverable, fields, results, now };
    decide(rows, &TurnRequest::Deliver(new))
}
