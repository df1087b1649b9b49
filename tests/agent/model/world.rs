//! What is stored, what the workers believe, and what only the model knows.

use std::collections::BTreeSet;

use machine::{
    agent::{TurnBatch, TurnEpoch, TurnRefusal, TurnRequest, TurnRows},
    clock::Millis,
};

use super::{
    defect::Protocol,
    scenario::{AGENTS, Budget, Scenario, WORKERS},
};
use crate::agent::{
    support::{EARLY, agent, rows},
    tally::Tally,
};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct World {
    pub(super) rows: TurnRows,
    /// The turn that each worker believes to have.
    pub(super) workers: [Option<TurnEpoch>; WORKERS],
    /// The worker that has the turn of each agent.
    pub(super) leases: [Option<usize>; AGENTS.len()],
    pub(super) tally: Tally,
    pub(super) now: Millis,
    pub(super) left: Budget,
    /// Violations that can only be seen at the moment at which they happen.
    pub(super) faults: BTreeSet<Fault>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Fault {
    /// A worker that does not have the turn has changed something.
    StaleWrote,
    /// An epoch fell, or a dispatch or a takeover did not raise it.
    EpochKept,
}

impl World {
    pub(super) fn new(scenario: &Scenario) -> Self {
        Self {
            rows: rows(&AGENTS),
            workers: Default::default(),
            leases: Default::default(),
            tally: Tally::default(),
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
        let raises = matches!(
            request,
            TurnRequest::Dispatch { .. }
                | TurnRequest::UiAction { .. }
                | TurnRequest::Reclaim { .. }
        );
        if let Some((agent, head)) = &batch.head {
            let before = self.rows.heads[agent].epoch;
            if head.epoch < before || (raises && head.epoch == before) {
                self.faults.insert(Fault::EpochKept);
            }
        }
        self.tally.count(&self.rows, &batch);
        self.rows.apply(&batch);
        Ok(batch)
    }
}

/// The place of the agent.
pub(super) fn agent_of(by: &TurnEpoch) -> usize {
    AGENTS.iter().position(|name| agent(name) == by.agent).unwrap()
}
