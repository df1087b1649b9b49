//! The cards and events of turns, and what must hold of them in every state (TN-2).

use std::collections::BTreeMap;

use machine::agent::{ActiveTurn, CardKind, MemberId, TurnBatch, TurnId, TurnRows, TurnStatus};

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Tally {
    turns: BTreeMap<TurnId, Seen>,
    /// A card was written to a box that another turn writes to.
    other_writer: bool,
    /// An event names a card that is not the deliverable of its batch.
    misdelivered: bool,
}

/// What a turn has written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Seen {
    events: u8,
    deliverables: u8,
    /// The answers of the model in each step.
    answers: BTreeMap<u32, u8>,
    /// The results of each call.
    results: BTreeMap<MemberId, u8>,
}

impl Tally {
    /// Counts the writes of a batch, before they are applied.
    pub(super) fn count(&mut self, rows: &TurnRows, batch: &TurnBatch) {
        for card in &batch.cards {
            let seen = self.turns.entry(card.turn).or_default();
            let member = MemberId { turn: card.turn, step: card.step, index: card.index };
            match card.kind {
                CardKind::Answer => *seen.answers.entry(card.step).or_default() += 1,
                CardKind::ToolCall => drop(seen.results.insert(member, 0)),
                CardKind::ToolResult => *seen.results.entry(member).or_default() += 1,
                _ => seen.deliverables += 1,
            }
            let writer = rows.boxes.get(&card.box_id).and_then(|used| used.writer);
            self.other_writer |= writer != Some(card.turn);
        }
        if let Some(event) = &batch.event {
            self.turns.entry(event.turn).or_default().events += 1;
            let mut cards = batch.cards.iter().filter(|it| it.kind == CardKind::Deliverable);
            self.misdelivered |= !cards
                .any(|card| card.new.id == event.deliverable && card.box_id == event.output_box);
        }
    }

    /// Each enqueued turn has one event and one deliverable, and both when it has ended.
    pub(super) fn has_one_answer(&self, rows: &TurnRows) -> bool {
        rows.turns.iter().all(|(turn, record)| {
            let count = u8::from(matches!(record.status, TurnStatus::Delivered { .. }));
            let seen = self.turns.get(turn);
            seen.map_or((0, 0), |seen| (seen.events, seen.deliverables)) == (count, count)
        })
    }

    /// Each call waits, or has one result.
    pub(super) fn has_one_result(&self, rows: &TurnRows) -> bool {
        let waits = |id| {
            let open = active(rows).flat_map(|active| active.open.iter());
            u8::try_from(open.filter(|member| member.id == id).count()).unwrap()
        };
        let mut results = self.turns.values().flat_map(|seen| &seen.results);
        results.all(|(id, results)| waits(*id) + results == 1)
    }

    /// A step has at most one answer of the model.
    pub(super) fn is_bought_once(&self) -> bool {
        self.turns.values().all(|seen| seen.answers.values().all(|count| *count == 1))
    }

    /// A box has one writer.
    pub(super) fn has_one_writer(&self, rows: &TurnRows) -> bool {
        let mut boxes: Vec<_> = active(rows).map(|active| active.task.output_box).collect();
        let count = boxes.len();
        boxes.sort();
        boxes.dedup();
        boxes.len() == count && !self.other_writer
    }

    /// An event names the deliverable of its batch in the output box.
    pub(super) fn is_delivered(&self) -> bool {
        !self.misdelivered
    }
}

/// An agent has one active turn.
pub(super) fn has_one_active(rows: &TurnRows) -> bool {
    rows.turns.iter().all(|(turn, record)| {
        let active = rows.heads[&record.agent].active.as_ref();
        (record.status == TurnStatus::Active) == active.is_some_and(|active| active.id == *turn)
    })
}

fn active(rows: &TurnRows) -> impl Iterator<Item = &ActiveTurn> {
    rows.heads.values().filter_map(|head| head.active.as_ref())
}
