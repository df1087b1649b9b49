use machine_derive::machine;
use serde::{Deserialize, Serialize};

use super::{ActiveTurn, AgentId, Head, Phase, TaskEvent, TurnBatch};
use crate::{
    actor::{Actor, Category, Name},
    contract::ToolCall,
    definition::{Definition, Mark},
    id::Id,
    journal::{Entry, Fact},
    stored::{Breach, Context},
};

/// The context of a head: the agent that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeadContext {
    /// Its name.
    pub agent: AgentId,
}

impl Context for HeadContext {
    /// The number of the entry with which a turn began to wait, the last time.
    type Summary = u64;

    const FORMAT: u32 = 1;
    const MARKS: &'static [Mark] = &[Mark::human("agent")];

    fn fold(&self, waits_since: &mut u64, entry: &Entry) -> Result<(), Breach> {
        if matches!(&entry.fact, Fact::Moved { to, stays: false, .. } if to == "suspended") {
            *waits_since = entry.number;
        }
        Ok(())
    }

    fn check(&self, _waits_since: &u64) -> Result<(), Breach> {
        if Name::is_normal(&self.agent.0) {
            return Ok(());
        }
        Err(Breach::new(format!(
            "`{}` is not the name of an agent; use 1 to 200 bytes of visible text in its normal form (NFKC), \
             with single spaces inside",
            self.agent
        )))
    }

    fn __id(&self) -> Option<Id> {
        Some(self.agent.head())
    }

    fn __owner(&self) -> Option<&'static Definition> {
        Some(agent_head::DEFINITION)
    }
}

/// The runtime of turns. Code outside of this module cannot make one, so that a turn moves only as
/// the protocol decides. It has the name of the person for whom it acts.
struct Runtime(Option<String>);

impl Actor for Runtime {
    const KIND: &'static str = "agent_runtime";
    const CATEGORY: Category = Category::System;

    fn name(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

/// The head of an agent, as a machine: its turns run one after the other. Its id is made from the
/// name of the agent, so that there is one. Its name, `agent_head`, is reserved.
#[machine(
    durable,
    context = HeadContext,
    crate = crate::own,
    on(
        /// The time limit of the turn has passed.
        limit(turn = turn.timed_out()) => Running,
        from = Active,
        by = Runtime,
        at = turn.ends_at(),
        detach,
    ),
    fields(
        /// It rises with each dispatch and each reclaim.
        epoch: u64,
    ),
    fields(
        /// The active turn.
        turn: ActiveTurn,
        in = Active,
    ),
)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum AgentHead {
    /// No turn is active.
    #[initial]
    #[stable]
    #[on(dispatch(epoch, turn) => Dispatched, by = Runtime)]
    Idle,

    /// No worker has claimed the turn.
    #[group(Active)]
    #[on(claim(turn) => Running, by = Runtime)]
    #[on(stop(turn) => Running, by = Runtime)]
    Dispatched,

    /// A worker runs the current step, or delivers the turn because it is stopped.
    #[group(Active)]
    #[on(reclaim(epoch, turn) => Self, by = Runtime)]
    #[on(stop(turn) => Self, by = Runtime)]
    #[on(answer(turn) => Self, by = Runtime)]
    #[on(call(turn, calls) => Suspended, by = Runtime)]
    #[on(deliver(event: TaskEvent) => Idle, by = Runtime)]
    Running,

    /// The turn waits for the results of its calls. A call that runs longer than the turn waits is
    /// left behind.
    #[group(Active)]
    #[stable]
    #[invoke(calls: [ToolCall], session = turn.id.to_string(), unattended)]
    #[on(
        report(next: ActiveTurn) =>
            if next.phase == Phase::Suspended { Self(turn = next) } else { Running(turn = next) },
        by = Runtime,
        detach,
    )]
    #[on(reclaim(epoch, turn) => Self, by = Runtime)]
    #[on(stop(turn) => Running, by = Runtime, detach)]
    Suspended {
        /// Those of tools.
        calls: Vec<ToolCall>,
    },
}

impl AnyAgentHead {
    pub(super) fn head(&self) -> Head {
        Head { epoch: *self.epoch(), active: self.turn().cloned() }
    }

    /// The number of the entry with which its turn began to wait, also if it was stopped since.
    pub(super) fn waits_since(&self) -> u64 {
        self.journal().past().context.as_u64().unwrap_or_default()
    }

    /// Takes the transition that leads to the head of the batch, with the calls of the state that
    /// it enters, for this person. If the batch has no head, the machine stays as it is.
    pub(super) fn moved(
        self,
        batch: &TurnBatch,
        calls: Vec<ToolCall>,
        person: Option<String>,
    ) -> Self {
        let Some((_, Head { epoch, active })) = batch.head.clone() else { return self };
        let runtime = &Runtime(person);
        let is_reclaimed = epoch != *self.epoch();
        let before = self.turn().map(|turn| (turn.stop, turn.waiting.len()));
        let (stop, waiting) = before.unwrap_or_default();
        let Some(turn) = active else {
            return match (self, batch.event.clone()) {
                (Self::Running(head), Some(event)) => head.deliver(event, runtime).into(),
                (other, _) => other,
            };
        };
        let is_stopped = turn.stop != stop;
        match self {
            Self::Idle(head) => head.dispatch(epoch, turn, runtime).into(),
            Self::Dispatched(head) if is_stopped => head.stop(turn, runtime).into(),
            Self::Dispatched(head) => head.claim(turn, runtime).into(),
            Self::Running(head) if turn.phase == Phase::Suspended => {
                head.call(turn, calls, runtime).into()
            }
            Self::Running(head) if is_stopped => head.stop(turn, runtime).into(),
            Self::Running(head) if is_reclaimed => head.reclaim(epoch, turn, runtime).into(),
            Self::Running(head) => head.answer(turn, runtime).into(),
            Self::Suspended(head) if is_reclaimed => head.reclaim(epoch, turn, runtime).into(),
            Self::Suspended(head) if turn.waiting.len() < waiting => {
                head.report(turn, runtime).into()
            }
            Self::Suspended(head) => head.stop(turn, runtime).into(),
        }
    }
}
