//! The pruning of delivered turns.

use std::{collections::BTreeSet, fmt, time::Duration};

use serde::Serialize;

use super::{
    AgentError, AgentId, Agents, AnyAgentHead, BoxId, Card, CardKind, TurnId, TurnRecord,
    TurnStatus,
    stored::{DELIVERED, StoredRows},
};
use crate::{
    actor::Human,
    clock::{Millis, earlier},
    operate::{Error, Operator},
    store::{LoadError, Problem, Query, Store, operation::Act},
};

/// The result of [`Agents::prune`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PrunedTurns {
    /// The number of turns.
    pub turns: u64,
    /// The number of their cards.
    pub cards: u64,
    /// The problems of agents with unreadable rows. The rest of their turns are kept.
    pub problems: Vec<Problem>,
}

/// The numbers of turns and cards, such as `1 turn with 2 cards`.
impl fmt::Display for PrunedTurns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { turns, cards, .. } = self;
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        write!(f, "{turns} turn{} with {cards} card{}", plural(*turns), plural(*cards))
    }
}

impl Agents {
    /// Deletes the bodies of the cards, and the answers from outside, of turns that were delivered
    /// at least this long ago. Keeps the `keep` most recently enqueued of the delivered turns of
    /// each agent. Each turn is pruned in one batch, while its agent works on others. The
    /// [page](super) of agents says what stays. The operator log gets a line at the beginning, and
    /// another one with the outcome.
    ///
    /// # Errors
    ///
    /// [`AgentError`] if the storage cannot do it now, or if a head cannot be read, because the
    /// boxes that its turn reads are then unknown. Turns that were pruned until then stay pruned.
    pub async fn prune(
        &self,
        delivered_for: Duration,
        keep: usize,
        by: &Human,
    ) -> Result<PrunedTurns, AgentError> {
        let age = delivered_for.as_secs();
        let detail = format!("delivered at least {age} s ago, without the last {keep} of an agent");
        let store = self.0.acting(Act::new(by, "prune turns", &[], &detail));
        store.log("begun").await.map_err(LoadError::from)?;
        let before = earlier(store.now(), delivered_for);
        let mut pruning = Pruning { store: &self.0, before, keep, pruned: PrunedTurns::default() };
        let done = pruning.everything().await;
        let pruned = pruning.pruned;
        let outcome = match &done {
            Ok(()) => format!("done: {pruned}"),
            Err(error) => format!("failed: {error}"),
        };
        // Without this line the log shows that it was interrupted.
        let _ = store.log(&outcome).await;
        done.map(|()| pruned)
    }
}

impl Operator<'_> {
    /// Prunes delivered turns of agents, as [`Agents::prune`] does.
    ///
    /// # Errors
    ///
    /// [`Error`] if the storage cannot do it now. What was pruned before stays pruned.
    pub async fn prune_turns(
        &self,
        delivered_for: Duration,
        keep: usize,
    ) -> Result<PrunedTurns, Error> {
        Ok(Agents::of(&self.store).prune(delivered_for, keep, self.by).await?)
    }
}

/// The number of turns examined together.
const PAGE: usize = 64;

struct Pruning<'a> {
    store: &'a Store,
    /// Only turns that were delivered until then.
    before: Millis,
    keep: usize,
    pruned: PrunedTurns,
}

impl Pruning<'_> {
    /// Begins again as long as it prunes turns, because those that they have delegated may follow.
    async fn everything(&mut self) -> Result<(), AgentError> {
        let agents = agents(self.store).await?;
        loop {
            let before = self.pruned.turns;
            self.pruned.problems.clear();
            for agent in &agents {
                match self.agent(agent).await {
                    Err(AgentError::Load(error)) if !matches!(error, LoadError::Unavailable(_)) => {
                        let problem = Problem { id: None, reason: format!("{agent}: {error}") };
                        self.pruned.problems.push(problem);
                    }
                    done => done?,
                }
            }
            if self.pruned.turns == before {
                return Ok(());
            }
        }
    }

    async fn agent(&mut self, agent: &AgentId) -> Result<(), AgentError> {
        let mut after = None;
        loop {
            let (mut stored, limit) = (StoredRows::default(), PAGE.saturating_add(self.keep));
            let mut turns = stored.listed(self.store, (DELIVERED, agent), after, limit).await?;
            turns.truncate(turns.len().saturating_sub(self.keep));
            let Some(last) = turns.last() else { return Ok(()) };
            after = Some(*last);
            self.page(&turns, &mut stored).await?;
        }
    }

    /// Prunes those of these turns that are old, and that nothing needs.
    async fn page(&mut self, turns: &[TurnId], stored: &mut StoredRows) -> Result<(), AgentError> {
        let is_old = |record: &TurnRecord| match record.status {
            TurnStatus::Delivered { at, .. } => at <= self.before,
            TurnStatus::Queued | TurnStatus::Active => false,
        };
        let known = turns.iter().filter_map(|turn| Some((*turn, stored.rows.turns.get(turn)?)));
        let old = known.filter(|(_, record)| is_old(record));
        let mut old: Vec<_> = old.map(|(turn, record)| (turn, record.clone())).collect();
        let parents = old.iter().filter_map(|(_, record)| Some(record.parent?.turn));
        let parents: Vec<TurnId> = parents.collect();
        let boxes: Vec<BoxId> = old.iter().map(|(_, record)| record.task.output_box).collect();
        stored.load(self.store, &parents, &boxes).await?;
        old.retain(|(_, record)| {
            let parent = record.parent.map(|call| call.turn);
            let is_named = parent.is_some_and(|parent| {
                let parent = stored.rows.turns.get(&parent);
                parent.is_none_or(|parent| parent.pruned_at.is_none())
            });
            let used = stored.rows.boxes.get(&record.task.output_box);
            !is_named && used.is_none_or(|used| used.live == 0)
        });
        if old.is_empty() {
            return Ok(());
        }
        // In this order: a turn that comes later writes the boxes that were read.
        let contexts = contexts(self.store).await?;
        old.retain(|(_, record)| !contexts.contains(&record.task.output_box));
        let boxes: BTreeSet<BoxId> = old.iter().map(|(_, record)| record.task.output_box).collect();
        for box_id in boxes {
            let cards = stored.headers(self.store, box_id).await?;
            for (turn, record) in &old {
                if record.task.output_box == box_id {
                    let own = cards.iter().filter(|card| card.turn == *turn).copied();
                    let own: Vec<Card> = own.collect();
                    // Perhaps that write is of a turn that uses the box.
                    if !self.turn((*turn, record), &own, stored).await? {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Prunes a turn, unless another write has come in between.
    async fn turn(
        &mut self,
        turn: (TurnId, &TurnRecord),
        cards: &[Card],
        stored: &mut StoredRows,
    ) -> Result<bool, AgentError> {
        let calls = cards.iter().filter(|card| card.kind == CardKind::ToolCall);
        let calls = calls.map(|card| card.member().answer()).collect();
        let asked = stored.asked(self.store, calls).await?;
        let records = stored.pruned(turn, cards, &asked, self.store.now());
        match self.store.batch().records(records).write().await {
            Err(error) if error.is_conflict() => return Ok(false),
            written => written?,
        }
        self.pruned.turns += 1;
        self.pruned.cards += cards.len() as u64;
        Ok(true)
    }
}

async fn agents(store: &Store) -> Result<Vec<AgentId>, LoadError> {
    let (mut agents, mut query) = (Vec::new(), Query::new());
    loop {
        let page = store.load_all::<AnyAgentHead>(&query).await?;
        for head in page.items {
            agents.push(head?.context().agent.clone());
        }
        let Some(next) = page.next else { return Ok(agents) };
        query = query.after(next);
    }
}

/// The boxes whose cards live turns read as their context.
async fn contexts(store: &Store) -> Result<BTreeSet<BoxId>, LoadError> {
    let mut live = StoredRows::default();
    for agent in agents(store).await? {
        // In this order: a turn leaves the queue for the head.
        live.queue(store, &agent, usize::MAX).await?;
        live.head(store, &agent).await?;
    }
    let queued = live.rows.turns.into_values().map(|record| record.task);
    let active = live.rows.heads.into_values().filter_map(|head| Some(head.active?.task));
    let readers = queued.chain(active).filter(|task| task.context_cards > 0);
    Ok(readers.map(|task| task.context_box).collect())
}
