use std::collections::BTreeMap;

use super::{
    ActiveTurn, AgentId, BoxId, BoxUse, Card, CardKind, Head, MAX_CARD, MemberId, NewCard,
    TaskEvent, TurnEdge, TurnEpoch, TurnId, TurnRecord, TurnRefusal, TurnRequest, TurnStatus,
};
use crate::clock::Millis;

/// The rows that a request reads, as the [page](super) of agents lists them.
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

/// The atomic writes of a request. If the request was written before, the batch is empty.
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

/// Decides what a request writes. All rules about turns are here.
///
/// # Errors
///
/// The request is refused. Nothing is written.
pub fn decide(rows: &TurnRows, request: &TurnRequest) -> Result<TurnBatch, TurnRefusal> {
    let mut draft = Draft { rows, batch: TurnBatch::default() };
    match request {
        TurnRequest::Enqueue { new, now } => draft.enqueue(new, *now)?,
        TurnRequest::UiAction { new, now } => draft.ui_action(new, *now)?,
        TurnRequest::Dispatch { agent, now } => draft.dispatch(agent, *now)?,
        TurnRequest::Stop { turn, why } => draft.stop(*turn, *why)?,
        TurnRequest::Claim { by } => draft.claim(by)?,
        TurnRequest::Reclaim { by } => draft.reclaim(by)?,
        TurnRequest::Answered(new) => draft.answered(new)?,
        TurnRequest::Call { by, members, now } => draft.call(by, members, *now)?,
        TurnRequest::Report { by, member, outcome, card, now } => {
            draft.report(by, *member, *outcome, card, *now)?;
        }
        TurnRequest::Deliver(new) => draft.deliver(new)?,
    }
    Ok(draft.batch)
}

pub(super) struct Draft<'a> {
    pub(super) rows: &'a TurnRows,
    pub(super) batch: TurnBatch,
}

/// The head of an agent with its active turn, as a worker holds it.
pub(super) struct Held {
    pub(super) agent: AgentId,
    pub(super) epoch: u64,
    pub(super) turn: ActiveTurn,
}

impl Held {
    pub(super) fn member(&self, index: u32) -> MemberId {
        MemberId { turn: self.turn.id, step: self.turn.step, index }
    }
}

impl Draft<'_> {
    pub(super) fn head(&self, agent: &AgentId) -> Result<&Head, TurnRefusal> {
        let unknown = || TurnRefusal::UnknownAgent { agent: agent.clone() };
        self.rows.heads.get(agent).ok_or_else(unknown)
    }

    /// The record of a turn, as the batch leaves it.
    pub(super) fn record(&self, turn: TurnId) -> Option<&TurnRecord> {
        self.batch.turns.get(&turn).or_else(|| self.rows.turns.get(&turn))
    }

    pub(super) fn known(&self, turn: TurnId) -> Result<&TurnRecord, TurnRefusal> {
        self.record(turn).ok_or(TurnRefusal::UnknownTurn { turn })
    }

    /// The use of a box by the agent, as the batch leaves it.
    pub(super) fn used(&self, box_id: BoxId, agent: &AgentId) -> Result<BoxUse, TurnRefusal> {
        let used = self.batch.boxes.get(&box_id).or_else(|| self.rows.boxes.get(&box_id));
        let (live, cards) = used.map_or((0, 0), |used| (used.live, used.cards));
        match used.filter(|used| used.live > 0 && used.agent != *agent) {
            Some(used) => Err(TurnRefusal::BoxTaken { box_id, agent: used.agent.clone() }),
            None => Ok(BoxUse { agent: agent.clone(), live, cards }),
        }
    }

    pub(super) fn active(&self, agent: &AgentId, turn: TurnId) -> Result<Held, TurnRefusal> {
        let head = self.head(agent)?;
        if let Some(active) = head.active.as_ref().filter(|active| active.id == turn) {
            return Ok(Held { agent: agent.clone(), epoch: head.epoch, turn: active.clone() });
        }
        Err(match self.known(turn)?.status {
            TurnStatus::Delivered { end, deliverable, .. } => {
                TurnRefusal::Ended { turn, end, deliverable }
            }
            TurnStatus::Queued | TurnStatus::Active => TurnRefusal::NotActive { turn },
        })
    }

    /// The active turn, if the worker holds it: the gate of every step.
    pub(super) fn held(&self, by: &TurnEpoch) -> Result<Held, TurnRefusal> {
        let held = self.active(&by.agent, by.turn)?;
        let (turn, epoch, current) = (by.turn, by.epoch, held.epoch);
        if epoch == current {
            Ok(held)
        } else {
            Err(TurnRefusal::StaleEpoch { turn, epoch, current })
        }
    }

    /// Writes the head. The children of a stopped turn do not wait for its delivery.
    pub(super) fn set(&mut self, held: Held) {
        if held.turn.stop.is_some() {
            self.stop_children(held.turn.id);
        }
        let head = Head { epoch: held.epoch, active: Some(held.turn) };
        self.batch.head = Some((held.agent, head));
    }

    /// Writes a card of the turn into its output box.
    pub(super) fn write(
        &mut self,
        held: &Held,
        card: &NewCard,
        (kind, index): (CardKind, u32),
    ) -> Result<(), TurnRefusal> {
        let (header, NewCard { id, size, .. }) = (*card, *card);
        if size > MAX_CARD {
            return Err(TurnRefusal::TooLarge { card: id, size });
        }
        let (box_id, turn) = (held.turn.task.output_box, held.turn.id);
        let (epoch, step) = (held.epoch, held.turn.step);
        let (pruned_at, used) = (None, self.used(box_id, &held.agent)?);
        let cards = used.cards.saturating_add(1);
        self.batch.boxes.insert(box_id, BoxUse { cards, ..used });
        self.batch.cards.push(Card { header, box_id, kind, turn, epoch, step, index, pruned_at });
        Ok(())
    }
}

pub(super) fn next_epoch(epoch: u64) -> Result<u64, TurnRefusal> {
    epoch.checked_add(1).ok_or(TurnRefusal::NoEpoch { epoch })
}
