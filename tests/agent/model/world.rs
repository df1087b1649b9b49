//! What is stored, what the workers believe, and what only the model knows.

use std::collections::{BTreeMap, BTreeSet};

use machine::{
    agent::{CardKind, MemberId, TurnBatch, TurnEpoch, TurnId, TurnRefusal, TurnRequest, TurnRows},
    clock::Millis,
};

use super::{
    defect::Protocol,
    scenario::{AGENTS, Budget, Scenario, WORKERS},
};
use crate::agent::support::{EARLY, agent, rows};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct World {
    /// Without cards: each of them is counted when it is written.
    pub(super) rows: TurnRows,
    /// The turn that each worker believes to have.
    pub(super) workers: [Option<TurnEpoch>; WORKERS],
    /// The worker that has the turn of each agent.
    pub(super) leases: [Option<usize>; AGENTS.len()],
    /// When executions ended, and answers from outside came.
    pub(super) ended: BTreeMap<MemberId, Millis>,
    pub(super) seen: BTreeMap<TurnId, Seen>,
    pub(super) now: Millis,
    pub(super) left: Budget,
    /// Violations that can only be seen at the moment at which they happen.
    pub(super) faults: BTreeSet<Fault>,
}

/// The cards and events of a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Seen {
    pub(super) events: u8,
    pub(super) deliverables: u8,
    /// The answers of the model in each step.
    pub(super) answers: BTreeMap<u32, u8>,
    /// The results of each call.
    pub(super) results: BTreeMap<MemberId, u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Fault {
    /// A worker that does not have the turn has changed something.
    StaleWrote,
    /// An epoch fell, or a dispatch or a takeover did not raise it.
    EpochKept,
    /// A card was written to a box that another turn writes to.
    OtherWriter,
    /// An event names a card that is not the deliverable of its batch.
    Misdelivered,
}

impl World {
    pub(super) fn new(scenario: &Scenario) -> Self {
        Self {
            rows: rows(&AGENTS),
            workers: Default::default(),
            leases: Default::default(),
            ended: BTreeMap::new(),
            seen: BTreeMap::new(),
            now: EARLY,
            left: scenario.budget,
            faults: BTreeSet::new(),
        }
    }

    /// Writes what the protocol answers.
    pub(super) fn write(
        &mut self,
        protocol: Protocol,
        request: &TurnRequest,
    ) -> Result<TurnBatch, TurnRefusal> {
        let batch = protocol.decide(&self.rows, request)?;
        let raises = matches!(request, TurnRequest::Dispatch { .. } | TurnRequest::Reclaim { .. });
        if let Some((agent, head)) = &batch.head {
            let before = self.rows.heads[agent].epoch;
            if head.epoch < before || (raises && head.epoch == before) {
                self.faults.insert(Fault::EpochKept);
            }
        }
        self.rows.apply(&batch);
        self.count(&batch);
        self.rows.cards.clear();
        Ok(batch)
    }

    fn count(&mut self, batch: &TurnBatch) {
        for card in &batch.cards {
            let seen = self.seen.entry(card.turn).or_default();
            let member = MemberId { turn: card.turn, step: card.step, index: card.index };
            match card.kind {
                CardKind::Answer => *seen.answers.entry(card.step).or_default() += 1,
                CardKind::ToolCall => drop(seen.results.insert(member, 0)),
                CardKind::ToolResult => *seen.results.entry(member).or_default() += 1,
                _ => seen.deliverables += 1,
            }
            let writer = self.rows.boxes.get(&card.box_id).and_then(|it| it.writer);
            let delivers = batch.event.as_ref().is_some_and(|event| event.turn == card.turn);
            if writer != Some(card.turn) && !delivers {
                self.faults.insert(Fault::OtherWriter);
            }
        }
        if let Some(event) = &batch.event {
            self.seen.entry(event.turn).or_default().events += 1;
            let mut cards = batch.cards.iter();
            if !cards.any(|it| it.new.id == event.deliverable && it.box_id == event.output_box) {
                self.faults.insert(Fault::Misdelivered);
            }
        }
    }
}

/// The place of the agent.
pub(super) fn agent_of(by: &TurnEpoch) -> usize {
    AGENTS.iter().position(|name| agent(name) == by.agent).unwrap()
}
