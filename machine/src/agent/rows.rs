use std::collections::BTreeMap;

use super::{
    AgentId, BoxId, BoxUse, Card, Head, MemberId, TaskEvent, TurnEdge, TurnId, TurnRecord,
};
use crate::clock::Millis;

/// The rows that a request reads: those that are on the [page](super) of agents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct TurnRows {
    /// The heads of the agents.
    pub heads: BTreeMap<AgentId, Head>,
    /// The records of the turns.
    pub turns: BTreeMap<TurnId, TurnRecord>,
    /// The output boxes of turns.
    pub boxes: BTreeMap<BoxId, BoxUse>,
    /// When the calls ended whose source is an execution, or a message from outside.
    pub ends: BTreeMap<MemberId, Millis>,
}

/// The writes of a request, which are atomic. The batch of a request that was written before is
/// empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TurnBatch {
    /// The head that changes.
    pub head: Option<(AgentId, Head)>,
    /// The records of turns that are new or change.
    pub turns: BTreeMap<TurnId, TurnRecord>,
    /// The boxes whose use changes, or that a new turn reads.
    pub boxes: BTreeMap<BoxId, BoxUse>,
    /// The new cards.
    pub cards: Vec<Card>,
    /// The new edges.
    pub edges: Vec<TurnEdge>,
    /// The event of a turn that ends.
    pub event: Option<TaskEvent>,
}

impl TurnBatch {
    pub(super) fn add(&mut self, later: Self) {
        let Self { head, turns, boxes, cards, edges, event } = later;
        self.head = head.or(self.head.take());
        self.turns.extend(turns);
        self.boxes.extend(boxes);
        self.cards.extend(cards);
        self.edges.extend(edges);
        self.event = event.or(self.event.take());
    }
}

impl TurnRows {
    /// Writes the batch. Cards, edges and events are logs, which no request reads.
    pub fn apply(&mut self, batch: &TurnBatch) {
        if let Some((agent, head)) = &batch.head {
            self.heads.insert(agent.clone(), head.clone());
        }
        self.turns.extend(batch.turns.clone());
        self.boxes.extend(batch.boxes.clone());
    }
}
