//! The deliverables, as the file has them.

use std::{collections::BTreeMap, fmt};

use anyhow::Context;
use machine::{
    agent::{Agents, CardKind, TaskEvent, TurnEnd, TurnId},
    journal::Fact,
    store::Store,
};
use serde_json::Value;

use crate::{
    script::MANY,
    staff::{OTHERS, PLANNER, agent, output, turns_of},
};

/// The ends of all turns.
pub struct Table(Vec<Row>);

/// The end of a turn.
struct Row {
    /// The number of the planner's turn.
    number: usize,
    agent: &'static str,
    /// The numbers of its events, and of its deliverables.
    counts: (usize, usize),
    outcome: String,
}

/// What the file has of a turn.
#[derive(Default)]
struct Found {
    ends: Vec<TurnEnd>,
    deliverables: Vec<Value>,
}

impl Table {
    /// Reads the ends of these turns of the planner, and of those that they have delegated.
    pub async fn read(store: &Store, planned: &[TurnId]) -> anyhow::Result<Self> {
        let agents = Agents::of(store);
        let mut found = BTreeMap::<TurnId, Found>::new();
        for agent in [PLANNER].into_iter().chain(OTHERS).map(agent) {
            for entry in store.history(agent.head()).await?.entries {
                let Fact::Moved { payload, .. } = entry.fact else { continue };
                let Some(event) = payload.get("event") else { continue };
                let event: TaskEvent = serde_json::from_value(event.clone())?;
                found.entry(event.turn).or_default().ends.push(event.end);
            }
            for (card, body) in agents.cards(output(&agent), MANY).await? {
                if card.kind == CardKind::Deliverable {
                    found.entry(card.turn).or_default().deliverables.push(body);
                }
            }
        }
        let mut rows = Vec::new();
        for (number, planned) in (1..).zip(planned) {
            for (agent, turn) in turns_of(*planned) {
                let found = found.remove(&turn).unwrap_or_default();
                rows.push(Row::of(number, agent, &found).context("a turn was lost")?);
            }
        }
        Ok(Self(rows))
    }

    /// The number of turns, if each has one event and one deliverable.
    pub fn count(&self) -> Option<usize> {
        self.0.iter().all(|row| row.counts == (1, 1)).then_some(self.0.len())
    }
}

impl Row {
    fn of(number: usize, agent: &'static str, found: &Found) -> Option<Self> {
        let Found { ends, deliverables } = found;
        let (end, deliverable) = ends.first().zip(deliverables.first())?;
        let text = deliverable.as_str().map_or_else(|| deliverable.to_string(), str::to_owned);
        let outcome = match end {
            // The deliverable says the same.
            TurnEnd::Stopped(_) => end.to_string(),
            TurnEnd::Done | TurnEnd::Failed => format!("{end}: {text}"),
        };
        Some(Self { number, agent, counts: (ends.len(), deliverables.len()), outcome })
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "turn  agent    events  deliverables  outcome")?;
        for Row { number, agent, counts: (events, deliverables), outcome } in &self.0 {
            write!(f, "\n{number:>4}  {agent:<7}  {events:>6}  {deliverables:>12}  {outcome}")?;
        }
        Ok(())
    }
}
