use std::{future::Future, pin::pin, slice, sync::Arc, time::Duration};

use futures_util::future::{Either, select};
use serde_json::json;

use super::{
    ActiveTurn, AgentId, AnyAgentHead, CallTarget, Deliverable, Head, MemberId, Phase, StopReason,
    TurnBatch, TurnEpoch, TurnRequest, Work,
    agent_head::Status,
    decide,
    stored::{Bodies, StoredRows},
    waits::{self, End, NextReport, Visit},
    written::Written,
};
use crate::{
    clock::{Millis, millis_between},
    store::{LoadError, Store, backend::Record},
    worker::{Failure, Handled, Handler, Next, Task},
};

/// Runs the turns of agents.
pub trait Agent: Send + Sync + 'static {
    /// Works on the current step of the active turn of an agent: returns its deliverable, or an
    /// answer of a model with calls. The cards of earlier steps are in the output box.
    ///
    /// This runs at least once for a step: a worker can end at any moment, and another one begins
    /// again. Only one of the runs counts. If its result cannot be written, the same worker retries
    /// the write without running the agent again. When the turn is [stopped](super::Agents::stop),
    /// or its time is up, the future is dropped at an `.await`. After a call that was the [last
    /// one](ActiveTurn::must_deliver), the agent can only deliver.
    ///
    /// # Errors
    ///
    /// The worker tries again later. Each step has as many attempts as the worker
    /// [allows][attempts], and a lost worker has used one. After these, the library makes one more
    /// attempt, which stops the turn: it is delivered with [this
    /// reason](super::StopReason::Attempts).
    ///
    /// [attempts]: crate::worker::Worker::attempts
    fn run(
        &self,
        agent: &AgentId,
        turn: &ActiveTurn,
        task: &Task,
    ) -> impl Future<Output = Result<Work, Failure>> + Send;
}

/// The time between two looks whether a turn that runs is stopped.
const INTERVAL: Duration = Duration::from_secs(1);

/// Drives the heads of all agents of a store: dispatches, claims, takes over and runs their turns,
/// makes their calls, reports each result, and delivers. Another handler can wrap it.
#[derive(Debug)]
pub struct Driver<A>(pub A);

impl<A: Agent> Handler for Driver<A> {
    type Machine = AnyAgentHead;

    async fn handle(&self, head: AnyAgentHead, task: &mut Task) -> Handled<AnyAgentHead> {
        let store = task.store().clone();
        let agent = head.context().agent.clone();
        let mut stored = StoredRows::of(&head);
        let Some(turn) = head.turn() else {
            let next = begin(&store, agent, stored).await?;
            let is_none = next.0.is_empty();
            return Ok(if is_none { Next::Wait } else { Next::Commit(begun(head, next, task)) });
        };
        let by = TurnEpoch { agent, turn: turn.id, epoch: *head.epoch() };
        let visit = Visit { head: head.id(), entered: head.waits_since() };
        let step = self.step((head.status(), visit), &by, turn, &mut stored, task).await?;
        step.read(&store, turn, &mut stored).await?;
        // A turn with open calls works only to be delivered: it was stopped while it waited.
        let ended = match &step {
            Step::Work(_) if !turn.waiting.is_empty() => {
                waits::ended(&store, visit, turn, &mut stored).await?
            }
            _ => Vec::new(),
        };
        let (now, mut written) = (store.now(), Written::new(std::mem::take(&mut stored.rows)));
        match step {
            Step::Request(request) => written.add(&request)?,
            Step::Work(work) => {
                for (index, End { body, message, .. }) in ended {
                    written.ended.insert(index, body);
                    if let Some(message) = message {
                        task.take(message);
                    }
                }
                written.work(&by, &work, now)?;
            }
            Step::Report(mut report) => {
                if let Some(message) = report.message.take() {
                    task.take(message);
                }
                written.report(&by, report, now)?;
            }
            Step::Wait(time) => return Ok(time.map_or(Next::Wait, Next::WaitFor)),
        }
        task.add_records(stored.records(&written.batch, &written.bodies));
        for head in written.woken(&by.agent) {
            task.wake(head);
        }
        // A worker that stops leaves the next turn to others.
        let (is_end, has_open) = (written.batch.event.is_some(), !turn.waiting.is_empty());
        let head = head.moved(&written.batch, written.calls, None);
        if !is_end || task.is_stopping() {
            return Ok(Next::Commit(head));
        }
        // What keeps the next turn from its beginning does not keep this one from its end: the idle
        // head meets it again.
        let next = begin(&store, by.agent, StoredRows::of(&head)).await.unwrap_or_default();
        // The outcomes of calls that this turn has left behind are not those of the next one: the
        // worker that claims the idle head drops them first.
        let drops = !next.0.is_empty()
            && (has_open
                || visit.entered > 0
                    && !store.read::<AnyAgentHead>(visit.head).await?.messages.is_empty());
        if drops {
            task.hand_back();
            return Ok(Next::Commit(head));
        }
        Ok(Next::Commit(begun(head, next, task)))
    }
}

/// What makes the oldest queued turn of an idle agent the active one, and claims it: the batch of
/// each move, and the records. The worker that dispatches a turn has it run, so both are one write.
async fn begin(
    store: &Store,
    agent: AgentId,
    mut stored: StoredRows,
) -> Result<(Vec<TurnBatch>, Vec<Record>), Failure> {
    if stored.queue(store, &agent, 1).await?.is_empty() {
        return Ok(Default::default());
    }
    let dispatch = decide(&stored.rows, &TurnRequest::Dispatch { agent, now: store.now() })?;
    let records = stored.records(&dispatch, &Bodies::new());
    stored.rows.apply(&dispatch);
    let claim = match &dispatch.head {
        Some((agent, Head { epoch, active: Some(turn) })) if !turn.task.terms.unreadable => {
            let by = TurnEpoch { agent: agent.clone(), turn: turn.id, epoch: *epoch };
            Some(decide(&stored.rows, &TurnRequest::Claim { by })?)
        }
        _ => None,
    };
    Ok((std::iter::once(dispatch).chain(claim).collect(), records))
}

fn begun(
    head: AnyAgentHead,
    (batches, records): (Vec<TurnBatch>, Vec<Record>),
    task: &mut Task,
) -> AnyAgentHead {
    task.add_records(records);
    batches.iter().fold(head, |head, batch| head.moved(batch, Vec::new(), None))
}

enum Step {
    Request(TurnRequest),
    Work(Arc<Work>),
    Report(NextReport),
    /// At most this time. A turn may be stopped, or is about to be by a deadline: the worker calls
    /// again.
    Wait(Option<Duration>),
}

impl<A: Agent> Driver<A> {
    /// Has the turn run, unless it is to be delivered or stopped, or waits. What an agent returns
    /// is paid for: if its rows cannot be read, or its write meets another one, such as a new turn
    /// for the same box, it is written again. Without it, the last attempt ends the turn.
    async fn step(
        &self,
        (status, visit): (Status, Visit),
        by: &TurnEpoch,
        turn: &ActiveTurn,
        stored: &mut StoredRows,
        task: &mut Task,
    ) -> Result<Step, Failure> {
        let is_running = status == Status::Running;
        // Another worker may have written the calls of the step, or its answer.
        let step = (by.clone(), (turn.phase, turn.step, turn.calls));
        let kept = task.take_kept::<((TurnEpoch, (Phase, u32, u32)), Arc<Work>)>();
        let is_last = task.is_last_attempt();
        let kept = kept.filter(|(of, _)| *of == step && !is_last);
        let stop = |why| Ok(Step::Request(TurnRequest::Stop { turn: turn.id, why }));
        if status != Status::Dispatched && task.taken_over {
            // Takeovers are no failures of a turn that waits.
            if is_running {
                task.keep_attempts();
            }
            return Ok(Step::Request(TurnRequest::Reclaim { by: by.clone() }));
        }
        let work = match (kept, turn.stop) {
            (Some((_, work)), _) => work,
            (None, None) if turn.task.terms.unreadable => return stop(StopReason::Unreadable),
            (None, _) if status == Status::Dispatched => {
                return Ok(Step::Request(TurnRequest::Claim { by: by.clone() }));
            }
            (None, Some(why)) => {
                let stopped = Deliverable::Failed(json!({ "stopped": why.to_string() }));
                Arc::new(stopped.into())
            }
            (None, None) if is_last => return stop(StopReason::Attempts),
            (None, None) if !is_running => {
                let store = task.store().clone();
                let next = waits::next(&store, visit, turn, stored).await?;
                return Ok(next.map_or_else(Step::Wait, Step::Report));
            }
            (None, None) => {
                let run = pin!(self.0.run(&by.agent, turn, task));
                let stop = pin!(stopped(task.store(), by, turn.ends_at()));
                let first = select(run, stop).await;
                match first {
                    Either::Left((result, _)) => Arc::new(result?),
                    Either::Right(_) => return Ok(Step::Wait(None)),
                }
            }
        };
        task.keep((step, Arc::clone(&work)));
        Ok(Step::Work(work))
    }
}

impl Step {
    async fn read(
        &self,
        store: &Store,
        turn: &ActiveTurn,
        stored: &mut StoredRows,
    ) -> Result<(), LoadError> {
        let is_stop = matches!(self, Self::Request(TurnRequest::Stop { .. }));
        if !is_stop && matches!(self, Self::Request(_) | Self::Wait(_)) {
            return Ok(());
        }
        stored.children(store, turn).await?;
        let (own, output) = (slice::from_ref(&turn.id), slice::from_ref(&turn.task.output_box));
        let own: &[_] = if matches!(self, Self::Report(_)) { &[] } else { own };
        let output: &[_] = if is_stop { &[] } else { output };
        stored.load(store, own, output).await?;
        let Self::Work(work) = self else { return Ok(()) };
        stored.parent(store, turn).await?;
        let Work::Call(answer) = &**work else { return Ok(()) };
        // The rows of the turns that the answer delegates.
        let (mut turns, mut boxes) = (Vec::new(), Vec::new());
        for (index, call) in (0..).zip(&answer.calls) {
            let CallTarget::Agent { agent, task } = &call.target else { continue };
            turns.push(MemberId { turn: turn.id, step: turn.step, index }.delegated());
            boxes.extend(task.boxes());
            stored.head(store, agent).await?;
        }
        stored.load(store, &turns, &boxes).await
    }
}

/// Completes when the turn is stopped, or its time is up.
async fn stopped(store: &Store, by: &TurnEpoch, ends_at: Option<Millis>) {
    loop {
        let left = ends_at.map(|at| millis_between(store.now(), at));
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
