use std::collections::BTreeMap;

use super::{AgentId, BoxId, BoxUse, Card, CardId, Head, TaskEvent, TurnEdge, TurnId, TurnRecord};

/// The rows that a request reads. A store loads only those that the request needs:
///
/// | request | rows |
/// |---|---|
/// | all | the head of the agent, the record of each turn and the row of each card that is named |
/// | enqueue, `ui_action` | the row of the output box |
/// | dispatch | the oldest queued record of the agent, the row of its output box |
/// | call | for each delegated turn: its record, if there is one, the head of its agent, its output box |
/// | report | of a call to another agent: the record of that turn |
/// | deliver | the records of the turns that the turn has delegated, the row of its output box |
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct TurnRows {
    /// The heads of the agents.
    pub heads: BTreeMap<AgentId, Head>,
    /// The records of the turns.
    pub turns: BTreeMap<TurnId, TurnRecord>,
    /// The output boxes of live turns.
    pub boxes: BTreeMap<BoxId, BoxUse>,
    /// The cards.
    pub cards: BTreeMap<CardId, Card>,
}

/// The writes of a request. They happen together or not at all. A batch without writes repeats what
/// is written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TurnBatch {
    /// The head that changes.
    pub head: Option<(AgentId, Head)>,
    /// The records of turns that are new or change.
    pub turns: BTreeMap<TurnId, TurnRecord>,
    /// The boxes whose use changes; `None` if no live turn writes to it anymore.
    pub boxes: BTreeMap<BoxId, Option<BoxUse>>,
    /// The new cards.
    pub cards: Vec<Card>,
    /// The new edges.
    pub edges: Vec<TurnEdge>,
    /// The event of a turn that ends.
    pub event: Option<TaskEvent>,
}

impl TurnRows {
    /// Writes the batch. Edges and events are logs, which no request reads.
    pub fn apply(&mut self, batch: &TurnBatch) {
        if let Some((agent, head)) = &batch.head {
            self.heads.insert(agent.clone(), head.clone());
        }
        for (turn, record) in &batch.turns {
            self.turns.insert(*turn, record.clone());
        }
        for (box_id, used) in &batch.boxes {
            match used {
                Some(used) => self.boxes.insert(*box_id, used.clone()),
                None => self.boxes.remove(box_id),
            };
        }
        self.cards.extend(batch.cards.iter().map(|card| (card.new.id, *card)));
    }
}
