//! The cards and events of turns, and what must hold of them in every state (TN-2).

use std::collections::BTreeMap;

use machine::agent::{
    ActiveTurn, CardKind, MemberId, StopReason, TurnBatch, TurnEnd, TurnId, TurnRows, TurnStatus,
};

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Tally {
    turns: BTreeMap<TurnId, Seen>,
    /// A card was written to a box that another turn writes to.
    other_writer: bool,
    /// An event names a card that is not the deliverable of its batch.
    misdelivered: bool,
    /// The reason of a stop was lost or replaced, or is not that of the event.
    stop_lost: bool,
}

/// What a turn has written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Seen {
    events: u8,
    deliverables: u8,
    /// The first reason of its stop.
    stop: Option<StopReason>,
    /// The answers of the model in each step.
    answers: BTreeMap<u32, u8>,
    /// The calls of the last answer of each step.
    wanted: BTreeMap<u32, u32>,
    /// The cards of each call.
    calls: BTreeMap<MemberId, u8>,
    /// The results of each call.
    results: BTreeMap<MemberId, u8>,
}

impl Tally {
    /// Counts the writes of a batch, before they are applied.
    pub(super) fn count(&mut self, rows: &TurnRows, batch: &TurnBatch) {
        let after = batch.head.as_ref().and_then(|(_, head)| head.active.as_ref());
        for card in &batch.cards {
            let seen = self.turns.entry(card.turn).or_default();
            let member = MemberId { turn: card.turn, step: card.step, index: card.index };
            match card.kind {
                CardKind::Answer => {
                    *seen.answers.entry(card.step).or_default() += 1;
                    seen.wanted.insert(card.step, after.map_or(0, |active| active.unmade));
                }
                CardKind::ToolCall => *seen.calls.entry(member).or_default() += 1,
                CardKind::ToolResult => *seen.results.entry(member).or_default() += 1,
                _ => seen.deliverables += 1,
            }
            let mut writers = active(rows).filter(|it| it.task.output_box == card.box_id);
            self.other_writer |= !writers.any(|active| active.id == card.turn);
        }
        let stops = batch.turns.iter().filter(|(_, it)| it.status == TurnStatus::Queued);
        let stops = stops.map(|(turn, record)| (*turn, record.stop));
        for (turn, stop) in stops.chain(after.map(|active| (active.id, active.stop))) {
            let seen = self.turns.entry(turn).or_default();
            self.stop_lost |= seen.stop.is_some() && seen.stop != stop;
            seen.stop = seen.stop.or(stop);
        }
        if let Some(event) = &batch.event {
            let seen = self.turns.entry(event.turn).or_default();
            seen.events += 1;
            let stop = if let TurnEnd::Stopped(why) = event.end { Some(why) } else { None };
            self.stop_lost |= seen.stop != stop;
            let mut cards = batch.cards.iter().filter(|it| it.kind == CardKind::Deliverable);
            self.misdelivered |= !cards
                .any(|card| card.header.id == event.deliverable && card.box_id == event.output_box);
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

    /// Each call of an answer waits, or has one result. There are no others.
    pub(super) fn has_one_result(&self, rows: &TurnRows) -> bool {
        self.turns.iter().all(|(turn, seen)| {
            let now = active(rows).find(|active| active.id == *turn);
            let mut count = 0;
            let mut is_answered = |step, index| {
                let id = MemberId { turn: *turn, step, index };
                let is_unmade = |it: &&ActiveTurn| it.step == step && index < it.unmade;
                let waits = now.filter(is_unmade).iter().count()
                    + now.iter().flat_map(|it| &it.waiting).filter(|it| it.id == id).count();
                let results = seen.results.get(&id).copied().unwrap_or_default();
                count += usize::from(results > 0);
                waits + usize::from(results) == 1 && seen.calls.get(&id).is_none_or(|it| *it == 1)
            };
            let is_wanted =
                |id: &MemberId| seen.wanted.get(&id.step).is_some_and(|calls| id.index < *calls);
            let mut steps = seen.wanted.iter();
            seen.calls.keys().all(is_wanted)
                && steps.all(|(step, calls)| (0..*calls).all(|index| is_answered(*step, index)))
                && count == seen.results.len()
        })
    }

    /// The first reason of a stop is that of its event.
    pub(super) fn keeps_stops(&self) -> bool {
        !self.stop_lost
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

/// The queued turns that a stopped turn has delegated are stopped.
pub(super) fn stops_children(rows: &TurnRows) -> bool {
    let is_stopped = |turn: TurnId| {
        active(rows).any(|active| active.id == turn && active.stop.is_some())
            || rows.turns.get(&turn).is_some_and(|record| {
                matches!(record.status, TurnStatus::Delivered { end: TurnEnd::Stopped(_), .. })
            })
    };
    rows.turns.values().filter(|record| record.status == TurnStatus::Queued).all(|record| {
        record.stop.is_some() || !record.parent.is_some_and(|member| is_stopped(member.turn))
    })
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
