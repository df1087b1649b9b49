use serde::Serialize;

use super::{
    ActiveTurn, AgentId, AnyAgentHead, BoxId, CallSource, TurnId, TurnRecord, Usage,
    stored::StoredRows,
};
use crate::{
    clock::Millis,
    id::Id,
    observe::Observer,
    store::{LoadError, Page, Query, Store},
};

/// An agent in a list: its active turn, and its queue.
#[derive(Debug, Clone, PartialEq, Serialize, crate::ToSchema)]
#[non_exhaustive]
pub struct AgentOverview {
    /// Its name.
    #[schema(value_type = String)]
    pub agent: AgentId,
    /// The machine that is its head.
    pub head: Id,
    /// It rises with each dispatch and each reclaim.
    pub epoch: u64,
    /// Its active turn; `None` if it is idle.
    pub active: Option<TurnOverview>,
    /// Its queued turns, oldest first.
    pub queued: Vec<QueuedTurn>,
    /// The queue has more turns than these.
    pub more_queued: bool,
}

/// An active turn. Times are in milliseconds since the Unix epoch, by the clock of the store.
#[derive(Debug, Clone, PartialEq, Serialize, crate::ToSchema)]
#[non_exhaustive]
pub struct TurnOverview {
    /// The turn.
    #[schema(value_type = Id)]
    pub turn: TurnId,
    /// `dispatched`, `running` or `suspended`.
    pub phase: String,
    /// When it entered its phase.
    pub entered_at: Millis,
    /// When it was dispatched.
    pub dispatched_at: Millis,
    /// When its time limit stops it.
    pub ends_at: Option<Millis>,
    /// The current step, from 1.
    pub step: u32,
    /// The reason of its stop. A stopped turn is about to be delivered.
    pub stop: Option<String>,
    /// The calls that it has made.
    pub calls: u32,
    /// The tokens of its answers of models.
    pub tokens: u64,
    /// Their price, in millionths of a currency unit.
    pub cost: u64,
    /// The box that it reads.
    #[schema(value_type = Id)]
    pub context_box: BoxId,
    /// The box that it writes to.
    #[schema(value_type = Id)]
    pub output_box: BoxId,
    /// Its waiting set: the calls of the current step without a result.
    pub waiting: Vec<WaitingCall>,
}

/// A call in the waiting set of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, crate::ToSchema)]
#[non_exhaustive]
pub struct WaitingCall {
    /// Its place among the calls of the step, from 0.
    pub index: u32,
    /// The `tool_call_id` of the model provider.
    pub call_id: String,
    /// What has its result: an `execution`, a `turn` of another agent, or someone `outside`.
    pub source: &'static str,
    /// That execution or turn.
    pub id: Option<Id>,
    /// When it was made.
    pub since: Millis,
    /// From this time on, its result is that it is overdue.
    pub deadline: Option<Millis>,
}

/// A turn in the queue of its agent.
#[derive(Debug, Clone, PartialEq, Serialize, crate::ToSchema)]
#[non_exhaustive]
pub struct QueuedTurn {
    /// The turn.
    #[schema(value_type = Id)]
    pub turn: TurnId,
    /// When it was enqueued (milliseconds since the Unix epoch).
    pub enqueued_at: Millis,
    /// The reason of its stop. It is delivered without running.
    pub stop: Option<String>,
}

impl Observer {
    /// A page of the agents of the store, each with at most this many of its queued turns. An agent
    /// that cannot be read is listed as an error.
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now.
    pub async fn agents(
        &self,
        query: &Query,
        queued: usize,
    ) -> Result<Page<Result<AgentOverview, LoadError>>, LoadError> {
        let page = self.store.load_all::<AnyAgentHead>(query).await?;
        let mut items = Vec::with_capacity(page.items.len());
        for head in page.items {
            items.push(match head {
                Ok(head) => match AgentOverview::of(&self.store, &head, queued).await {
                    Err(error @ LoadError::Unavailable(_)) => return Err(error),
                    agent => agent,
                },
                Err(error) => Err(error),
            });
        }
        Ok(Page { items, next: page.next })
    }
}

impl AgentOverview {
    async fn of(store: &Store, head: &AnyAgentHead, limit: usize) -> Result<Self, LoadError> {
        let agent = head.context().agent.clone();
        let mut stored = StoredRows::default();
        let turns = stored.queue(store, &agent, limit.saturating_add(1)).await?;
        let more_queued = turns.len() > limit;
        let records = &stored.rows.turns;
        let queued = turns.into_iter().take(limit);
        let queued = queued.filter_map(|turn| Some(QueuedTurn::of(turn, records.get(&turn)?)));
        let queued = queued.collect();
        let active = match head.turn() {
            Some(turn) => {
                let waiting = WaitingCall::all(store, head, turn).await?;
                Some(TurnOverview::of(turn, head.journal().past().entered_at, waiting))
            }
            None => None,
        };
        let (head, epoch) = (head.id(), *head.epoch());
        Ok(Self { agent, head, epoch, active, queued, more_queued })
    }
}

impl TurnOverview {
    fn of(active: &ActiveTurn, entered_at: Millis, waiting: Vec<WaitingCall>) -> Self {
        let Usage { calls, tokens, cost } = active.usage;
        Self {
            turn: active.id,
            phase: active.phase.to_string(),
            entered_at,
            dispatched_at: active.dispatched_at,
            ends_at: active.ends_at(),
            step: active.step,
            stop: active.stop.map(|why| why.to_string()),
            calls,
            tokens,
            cost,
            context_box: active.task.context_box,
            output_box: active.task.output_box,
            waiting,
        }
    }
}

impl WaitingCall {
    async fn all(
        store: &Store,
        head: &AnyAgentHead,
        turn: &ActiveTurn,
    ) -> Result<Vec<Self>, LoadError> {
        if turn.waiting.is_empty() {
            return Ok(Vec::new());
        }
        // A turn that was stopped has left the state in which it made them.
        let entered = head.waits_since();
        let lines = store.inner.backend.history(head.id(), entered, 1).await??;
        let since = lines.first().map_or(turn.dispatched_at, |line| line.at);
        // An execution that cannot be read has no id here; `list` shows it.
        let calls = store.inner.backend.calls(head.id(), entered.saturating_add(1)).await?;
        let calls: Vec<_> = calls.into_iter().flatten().collect();
        let waiting = turn.waiting.iter().map(|member| {
            let (source, id) = match member.source {
                CallSource::Execution(place) => {
                    let call = calls.iter().find(|call| call.position == place);
                    ("execution", call.map(|call| call.id))
                }
                CallSource::Turn(turn) => ("turn", Some(turn.0)),
                CallSource::Outside => ("outside", None),
            };
            let (index, call_id, deadline) =
                (member.id.index, member.call_id.clone(), member.deadline);
            Self { index, call_id, source, id, since, deadline }
        });
        Ok(waiting.collect())
    }
}

impl QueuedTurn {
    fn of(turn: TurnId, record: &TurnRecord) -> Self {
        let stop = record.stop.map(|why| why.to_string());
        Self { turn, enqueued_at: record.enqueued_at, stop }
    }
}
