//! The rows of turns, as records of a store.

use std::{collections::BTreeMap, slice};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{
    ActiveTurn, AgentId, AnyAgentHead, BoxId, BoxUse, CallSource, Card, CardId, CardKind, Head,
    MemberId, TurnBatch, TurnId, TurnRecord, TurnRows, TurnStatus,
};
use crate::{
    clock::Millis,
    id::Id,
    journal::is_too_deep,
    store::{
        LoadError, Store,
        backend::{Record, Records},
    },
};

/// The kinds of the records.
const TURN: &str = "turn";
const BOX: &str = "box";
const CARD: &str = "card";
const EDGE: &str = "edge";
const ANSWER: &str = "answer";

/// The bodies of the cards that a batch writes.
pub(super) type Bodies = BTreeMap<CardId, Value>;

/// A body that can be read again. One that is nested too deeply is its text.
pub(super) fn readable(body: Value) -> Value {
    if is_too_deep(&body) { body.to_string().into() } else { body }
}

/// A call that is answered from outside.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Asked {
    pub(super) agent: AgentId,
    /// Its answer, and when that came.
    pub(super) answer: Option<(Millis, Value)>,
}

/// The rows that a request reads, and the versions of their records.
#[derive(Debug, Default)]
pub(super) struct StoredRows {
    pub(super) rows: TurnRows,
    versions: BTreeMap<(&'static str, Id), u64>,
}

/// The name of the list of the queued turns of an agent.
fn queue_of(agent: &AgentId) -> String {
    format!("queued:{}", agent.0)
}

impl StoredRows {
    /// The head of an agent, without other rows.
    pub(super) fn of(head: &AnyAgentHead) -> Self {
        let mut stored = Self::default();
        stored.rows.heads.insert(head.context().agent.clone(), head.head());
        stored
    }

    /// Reads the records of these turns.
    pub(super) async fn turns(&mut self, store: &Store, turns: &[TurnId]) -> Result<(), LoadError> {
        let ids = turns.iter().map(|turn| turn.0).collect();
        let read = self.read(store, TURN, Records::Of(TURN, ids), body_of::<TurnRecord>).await?;
        self.rows.turns.extend(read.into_iter().map(|(id, record)| (TurnId(id), record)));
        Ok(())
    }

    /// Reads the records of the turns that this one has delegated. One that cannot be read is left
    /// out, so that this turn ends.
    pub(super) async fn children(
        &mut self,
        store: &Store,
        turn: &ActiveTurn,
    ) -> Result<(), LoadError> {
        let children: Vec<TurnId> = turn.made().map(|call| call.delegated()).collect();
        if LoadError::readable(self.turns(store, &children).await)?.is_none() {
            for child in &children {
                LoadError::readable(self.turns(store, slice::from_ref(child)).await)?;
            }
        }
        Ok(())
    }

    /// Reads the record of the turn that has delegated this one. If it cannot be read, it is left
    /// out, so that this one ends: that turn looks when its call is overdue.
    pub(super) async fn parent(
        &mut self,
        store: &Store,
        turn: &ActiveTurn,
    ) -> Result<(), LoadError> {
        let record = self.rows.turns.get(&turn.id);
        let Some(call) = record.and_then(|record| record.parent) else { return Ok(()) };
        LoadError::readable(self.turns(store, &[call.turn]).await)?;
        Ok(())
    }

    /// Reads the records of the queued turns of an agent, oldest first; at most this many.
    pub(super) async fn queue(
        &mut self,
        store: &Store,
        agent: &AgentId,
        limit: usize,
    ) -> Result<Vec<TurnId>, LoadError> {
        let which = Records::Listed { kind: TURN, list: queue_of(agent), skip: 0, limit };
        let read = self.read(store, TURN, which, body_of::<TurnRecord>).await?;
        let queued = read.iter().map(|(id, _)| TurnId(*id)).collect();
        self.rows.turns.extend(read.into_iter().map(|(id, record)| (TurnId(id), record)));
        Ok(queued)
    }

    /// Reads the use of these output boxes.
    pub(super) async fn boxes(&mut self, store: &Store, boxes: &[BoxId]) -> Result<(), LoadError> {
        let ids = boxes.iter().map(|it| it.0).collect();
        let read = self.read(store, BOX, Records::Of(BOX, ids), body_of::<Option<BoxUse>>).await?;
        // Of a box that no live turn writes to anymore, the record stays.
        self.rows.boxes.extend(read.into_iter().filter_map(|(id, used)| Some((BoxId(id), used?))));
        Ok(())
    }

    /// Reads the calls with these records of answers.
    pub(super) async fn asked(
        &mut self,
        store: &Store,
        ids: Vec<Id>,
    ) -> Result<BTreeMap<Id, Asked>, LoadError> {
        if ids.is_empty() {
            return Ok(BTreeMap::new());
        }
        let read = self.read(store, ANSWER, Records::Of(ANSWER, ids), body_of::<Asked>).await?;
        Ok(read.into_iter().collect())
    }

    /// The record of a call that is answered from outside.
    pub(super) fn answer(&self, call: MemberId, asked: &Asked) -> Record {
        self.record(ANSWER, call.answer(), None, asked)
    }

    /// The records of the calls that a batch makes, and that are answered from outside.
    fn newly_asked(&self, batch: &TurnBatch) -> Vec<Record> {
        let Some((agent, Head { active: Some(turn), .. })) = &batch.head else { return Vec::new() };
        let made = |call: &Card, index| call.kind == CardKind::ToolCall && call.index == index;
        let is_new = |id: MemberId| batch.cards.iter().any(|card| made(card, id.index));
        let outside = turn.waiting.iter().filter(|it| it.source == CallSource::Outside);
        let asked = || Asked { agent: agent.clone(), answer: None };
        outside.filter(|it| is_new(it.id)).map(|it| self.answer(it.id, &asked())).collect()
    }

    /// Reads the head of an agent, if there is one.
    pub(super) async fn head(&mut self, store: &Store, agent: &AgentId) -> Result<(), LoadError> {
        let head = match store.load::<AnyAgentHead>(agent.head()).await {
            Err(LoadError::NotFound { .. }) => return Ok(()),
            head => head?.head(),
        };
        self.rows.heads.insert(agent.clone(), head);
        Ok(())
    }

    async fn read<T>(
        &mut self,
        store: &Store,
        kind: &'static str,
        which: Records,
        body_of: fn(&Record) -> Result<T, LoadError>,
    ) -> Result<Vec<(Id, T)>, LoadError> {
        let mut read = Vec::new();
        for found in store.inner.backend.records(which).await? {
            let record = found?;
            self.versions.insert((kind, record.id), record.version);
            read.push((record.id, body_of(&record)?));
        }
        Ok(read)
    }

    /// The records that a batch writes.
    pub(super) fn records(&self, batch: &TurnBatch, bodies: &Bodies) -> Vec<Record> {
        let turns = batch.turns.iter().map(|(turn, record)| {
            let is_queued = record.status == TurnStatus::Queued;
            self.record(TURN, turn.0, is_queued.then(|| queue_of(&record.agent)), record)
        });
        let boxes = batch.boxes.iter().map(|(id, used)| self.record(BOX, id.0, None, used));
        let cards = batch.cards.iter().map(|card| {
            let list = Some(card.box_id.to_string());
            self.record(CARD, card.header.id.0, list, &(card, bodies.get(&card.header.id)))
        });
        let edges = batch
            .edges
            .iter()
            .map(|edge| self.record(EDGE, Id::fresh(), Some(edge.trace.to_string()), edge));
        let asked = self.newly_asked(batch);
        turns.chain(boxes).chain(cards).chain(edges).chain(asked).collect()
    }

    fn record(
        &self,
        kind: &'static str,
        id: Id,
        list: Option<String>,
        body: &impl Serialize,
    ) -> Record {
        let before = self.versions.get(&(kind, id)).copied().unwrap_or_default();
        let (kind, version) = (kind.to_owned(), before.saturating_add(1));
        Record { kind, id, version, list, body: json!(body).to_string() }
    }
}

/// The cards of a box with their bodies, in the order in which they were written.
pub(super) async fn cards(
    store: &Store,
    box_id: BoxId,
    limit: usize,
) -> Result<Vec<(Card, Value)>, LoadError> {
    let which = Records::Listed { kind: CARD, list: box_id.to_string(), skip: 0, limit };
    let found = store.inner.backend.records(which).await?;
    found.into_iter().map(|found| body_of(&found?)).collect()
}

/// The cards with these ids, with their bodies. Unknown ids are left out.
pub(super) async fn cards_of(store: &Store, ids: Vec<Id>) -> Result<Vec<(Card, Value)>, LoadError> {
    let found = store.inner.backend.records(Records::Of(CARD, ids)).await?;
    found.into_iter().map(|found| body_of(&found?)).collect()
}

/// Checks whether a box has at least this many cards. It never loses one.
pub(super) async fn has_cards(store: &Store, box_id: BoxId, count: u64) -> Result<bool, LoadError> {
    let Some(before) = count.checked_sub(1) else { return Ok(true) };
    let (list, skip) = (box_id.to_string(), usize::try_from(before).unwrap_or(usize::MAX));
    let last = Records::Listed { kind: CARD, list, skip, limit: 1 };
    Ok(!store.inner.backend.records(last).await?.is_empty())
}

fn body_of<T: DeserializeOwned>(record: &Record) -> Result<T, LoadError> {
    serde_json::from_str(&record.body).map_err(|error| {
        let (kind, reason) = (record.kind.clone(), error.to_string());
        LoadError::OtherForm { kind, id: record.id, reason }
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
