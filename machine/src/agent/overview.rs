use serde::{Deserialize, Serialize};

use super::{
    ActiveTurn, AgentId, AnyAgentHead, BoxId, CallSource, CardId, TaskEvent, TurnId, Usage, stored,
};
use crate::{
    clock::Millis,
    id::Id,
    journal::{Entry, Fact},
    observe::Observer,
    store::{LoadError, Page, Query, Store},
    view::{Human, audience::due},
};

/// An agent in a list: its active turn, its queue, and its last deliverables.
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
    /// Its last delivered turns, newest first, if the newest entries of its head contain them.
    pub delivered: Vec<DeliveredTurn>,
}

/// An active turn. Times are in milliseconds since the Unix epoch, by the clock of the store. The
/// limit and the deadlines are rounded down, as people see them.
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
    /// The source of its result: an `execution`, a `turn` of another agent, or someone `outside`.
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

/// A turn that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, crate::ToSchema)]
#[non_exhaustive]
pub struct DeliveredTurn {
    /// The turn.
    #[schema(value_type = Id)]
    pub turn: TurnId,
    /// When it was delivered (milliseconds since the Unix epoch).
    pub delivered_at: Millis,
    /// Its end: `done`, `failed`, or the reason of its stop.
    pub end: String,
    /// The box that it has written to.
    #[schema(value_type = Id)]
    pub output_box: BoxId,
    /// The card with its result.
    #[schema(value_type = Id)]
    pub deliverable: CardId,
}

impl Observer {
    /// A page of the agents of the store, each with at most `turns` queued turns and `turns` of the
    /// last delivered ones. An unreadable agent is listed as an error; an unreadable queued turn is
    /// listed as an error after its agent.
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now.
    pub async fn agents(
        &self,
        query: &Query,
        turns: usize,
    ) -> Result<Page<Result<AgentOverview, LoadError>>, LoadError> {
        let page = self.store.load_all::<AnyAgentHead>(query).await?;
        let mut items = Vec::with_capacity(page.items.len());
        for head in page.items {
            let head = match head {
                Ok(head) => head,
                Err(error) => {
                    items.push(Err(error));
                    continue;
                }
            };
            let of_agent = |error| LoadError::OfAgent {
                agent: head.context().agent.to_string(),
                source: Box::new(error),
            };
            match AgentOverview::of(&self.store, &head, turns).await {
                Ok((agent, unread)) => {
                    items.push(Ok(agent));
                    items.extend(unread.into_iter().map(|error| Err(of_agent(error))));
                }
                Err(error @ LoadError::Unavailable(_)) => return Err(error),
                Err(error) => items.push(Err(of_agent(error))),
            }
        }
        Ok(Page { items, next: page.next })
    }
}

impl AgentOverview {
    /// And why some of its queued turns cannot be read.
    async fn of(
        store: &Store,
        head: &AnyAgentHead,
        limit: usize,
    ) -> Result<(Self, Vec<LoadError>), LoadError> {
        let agent = head.context().agent.clone();
        let turns = stored::queued(store, &agent, limit.saturating_add(1)).await?;
        let more_queued = turns.len() > limit;
        let (mut queued, mut unread) = (Vec::new(), Vec::new());
        for turn in turns.into_iter().take(limit) {
            match turn {
                Ok((turn, record)) => {
                    let stop = record.stop.map(|why| why.to_string());
                    queued.push(QueuedTurn { turn, enqueued_at: record.enqueued_at, stop });
                }
                Err(error) => unread.push(error),
            }
        }
        let active = match head.turn() {
            Some(turn) => {
                let waiting = WaitingCall::all(store, head, turn).await?;
                Some(TurnOverview::of(turn, head.journal().past().entered_at, waiting))
            }
            None => None,
        };
        // With the newest entry come up to 100 before it.
        let newest = head.journal().version().saturating_sub(1);
        let entries = store.history_part(head.id(), newest, usize::MAX).await?.history.entries;
        let delivered = entries.iter().rev().filter_map(DeliveredTurn::of).take(limit).collect();
        let (head, epoch) = (head.id(), *head.epoch());
        Ok((Self { agent, head, epoch, active, queued, more_queued, delivered }, unread))
    }
}

impl TurnOverview {
    fn of(active: &ActiveTurn, entered_at: Millis, waiting: Vec<WaitingCall>) -> Self {
        let Usage { calls, tokens, cost } = active.usage;
        Self {
            turn: active.id,
            phase: active.phase.to_string(),
            entered_at,
            ends_at: active.ends_at().map(|at| due::<Human>(at, active.dispatched_at)),
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
            let (index, call_id) = (member.id.index, member.call_id.clone());
            let deadline = member.deadline.map(|at| due::<Human>(at, since));
            Self { index, call_id, source, id, since, deadline }
        });
        Ok(waiting.collect())
    }
}

impl DeliveredTurn {
    fn of(entry: &Entry) -> Option<Self> {
        let Fact::Moved { payload, .. } = &entry.fact else { return None };
        let event = TaskEvent::deserialize(payload.get("event")?).ok()?;
        let TaskEvent { turn, end, output_box, deliverable, .. } = event;
        Some(Self { turn, delivered_at: entry.at, end: end.to_string(), output_box, deliverable })
    }
}
