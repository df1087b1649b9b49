//! The rows of turns, as records of a store.

use std::{collections::BTreeMap, slice};

use serde::{
    Deserialize, Serialize,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::Value;

use super::{
    ActiveTurn, AgentId, AnyAgentHead, BoxId, CallSource, Card, CardId, CardKind, Head, MemberId,
    TurnBatch, TurnId, TurnRecord, TurnRows, TurnStatus,
};
use crate::{
    clock::Millis,
    id::Id,
    store::{
        LoadError, Store, Unavailable,
        backend::{Broken, Record, Records},
    },
};

const TURN: &str = "turn";
const BOX: &str = "box";
pub(super) const CARD: &str = "card";
const EDGE: &str = "edge";
const ANSWER: &str = "answer";

/// The bodies of the cards that a batch writes, as JSON.
pub(super) type Bodies = BTreeMap<CardId, String>;

/// A call that is answered from outside.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Asked {
    pub(super) agent: AgentId,
    pub(super) answer: Option<(Millis, Value)>,
}

/// The rows that a request reads, and the versions of their records.
#[derive(Debug, Default)]
pub(super) struct StoredRows {
    pub(super) rows: TurnRows,
    versions: BTreeMap<(String, Id), u64>,
}

const QUEUED: &str = "queued";
pub(super) const DELIVERED: &str = "delivered";

/// The number of cards that are read at once without their bodies.
const CARDS: usize = 32;

fn list_of(which: &str, agent: &AgentId) -> String {
    format!("{which}:{}", agent.0)
}

impl StoredRows {
    /// The head of an agent, without other rows.
    pub(super) fn of(head: &AnyAgentHead) -> Self {
        let mut stored = Self::default();
        stored.rows.heads.insert(head.context().agent.clone(), head.head());
        stored
    }

    /// Reads the records of these turns and boxes at once, without those that were read before: a
    /// write on them is refused if they have changed since.
    pub(super) async fn load(
        &mut self,
        store: &Store,
        turns: &[TurnId],
        boxes: &[BoxId],
    ) -> Result<(), LoadError> {
        let turns = turns.iter().filter(|turn| !self.rows.turns.contains_key(*turn));
        let boxes = boxes.iter().filter(|it| !self.rows.boxes.contains_key(*it));
        let turns = turns.map(|turn| (TURN, turn.0));
        let keys = turns.chain(boxes.map(|it| (BOX, it.0))).collect();
        self.read_rows(store, Records::Of(keys)).await.map(drop)
    }

    /// Reads records of turns and boxes. Returns the turns.
    async fn read_rows(&mut self, store: &Store, which: Records) -> Result<Vec<TurnId>, LoadError> {
        let mut turns = Vec::new();
        for record in self.read(store, which).await? {
            if record.kind == BOX {
                self.rows.boxes.insert(BoxId(record.id), body_of(&record)?);
            } else {
                self.rows.turns.insert(TurnId(record.id), body_of(&record)?);
                turns.push(TurnId(record.id));
            }
        }
        Ok(turns)
    }

    /// Reads the records of the turns that this one has delegated. One that cannot be read is left
    /// out, so that this turn ends.
    pub(super) async fn children(
        &mut self,
        store: &Store,
        turn: &ActiveTurn,
    ) -> Result<(), LoadError> {
        let children: Vec<TurnId> = turn.children().collect();
        if LoadError::readable(self.load(store, &children, &[]).await)?.is_none() {
            for child in &children {
                LoadError::readable(self.load(store, slice::from_ref(child), &[]).await)?;
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
        LoadError::readable(self.load(store, &[call.turn], &[]).await)?;
        Ok(())
    }

    /// Reads the records of the queued turns of an agent, oldest first; at most this many.
    pub(super) async fn queue(
        &mut self,
        store: &Store,
        agent: &AgentId,
        limit: usize,
    ) -> Result<Vec<TurnId>, LoadError> {
        self.listed(store, (QUEUED, agent), None, limit).await
    }

    /// Reads the records of the turns in a list of an agent, oldest first: at most `limit`,
    /// after this one. A delivered turn is in its list until it is pruned.
    pub(super) async fn listed(
        &mut self,
        store: &Store,
        (which, agent): (&str, &AgentId),
        after: Option<TurnId>,
        limit: usize,
    ) -> Result<Vec<TurnId>, LoadError> {
        let (list, after) = (list_of(which, agent), after.map(|turn| turn.0));
        self.read_rows(store, Records::Listed { kind: TURN, list, after, limit }).await
    }

    /// Reads the cards of a box, without their bodies.
    pub(super) async fn headers(
        &mut self,
        store: &Store,
        box_id: BoxId,
    ) -> Result<Vec<Card>, LoadError> {
        let (mut cards, mut after) = (Vec::new(), None);
        loop {
            let (list, limit) = (box_id.to_string(), CARDS);
            let which = Records::Listed { kind: CARD, list, after, limit };
            let read = self.read(store, which).await?;
            let Some(last) = read.last() else { return Ok(cards) };
            after = Some(last.id);
            for record in &read {
                cards.push(body_of::<(Card, IgnoredAny)>(record)?.0);
            }
        }
    }

    /// The records that pruning a turn leaves: the turn, its cards without their bodies, its calls
    /// to the outside without their answers, and its box, so that a new turn that uses it meets
    /// this write.
    pub(super) fn pruned(
        &mut self,
        (turn, record): (TurnId, &TurnRecord),
        cards: &[Card],
        asked: &BTreeMap<Id, Asked>,
        now: Millis,
    ) -> Vec<Record> {
        let (output, pruned_at) = (record.task.output_box, Some(now));
        let used = self.rows.boxes.get(&output);
        let used = used.map(|used| self.record(BOX, output.0, None, used));
        self.versions.extend(used.iter().map(|it| ((it.kind.clone(), it.id), it.version)));
        let record = TurnRecord { pruned_at, ..record.clone() };
        let cards = cards.iter().map(|card| {
            let (list, left) = (Some(output.to_string()), Card { pruned_at, ..*card });
            self.record(CARD, card.header.id.0, list, &(left, Value::Null))
        });
        let asked = asked.iter().map(|(id, Asked { agent, .. })| {
            let answered = Asked { agent: agent.clone(), answer: Some((now, Value::Null)) };
            self.record(ANSWER, *id, None, &answered)
        });
        let turn = self.record(TURN, turn.0, None, &record);
        used.into_iter().chain([turn]).chain(cards).chain(asked).collect()
    }

    pub(super) async fn asked(
        &mut self,
        store: &Store,
        ids: Vec<Id>,
    ) -> Result<BTreeMap<Id, Asked>, LoadError> {
        let keys = ids.into_iter().map(|id| (ANSWER, id)).collect();
        let read = self.read(store, Records::Of(keys)).await?;
        read.iter().map(|record| Ok((record.id, body_of(record)?))).collect()
    }

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

    /// Reads the head of an agent, if there is one and it was not read before.
    pub(super) async fn head(&mut self, store: &Store, agent: &AgentId) -> Result<(), LoadError> {
        if self.rows.heads.contains_key(agent) {
            return Ok(());
        }
        let head = match store.load::<AnyAgentHead>(agent.head()).await {
            Err(LoadError::NotFound { .. }) => return Ok(()),
            head => head?.head(),
        };
        self.rows.heads.insert(agent.clone(), head);
        Ok(())
    }

    async fn read(&mut self, store: &Store, which: Records) -> Result<Vec<Record>, LoadError> {
        let read = read(store, which).await?;
        self.versions.extend(read.iter().map(|it| ((it.kind.clone(), it.id), it.version)));
        Ok(read)
    }

    pub(super) fn records(&self, batch: &TurnBatch, bodies: &Bodies) -> Vec<Record> {
        let turns = batch.turns.iter().map(|(turn, record)| {
            let which = match record.status {
                TurnStatus::Queued => Some(QUEUED),
                TurnStatus::Active => None,
                TurnStatus::Delivered { .. } => Some(DELIVERED),
            };
            self.record(TURN, turn.0, which.map(|it| list_of(it, &record.agent)), record)
        });
        let boxes = batch.boxes.iter().map(|(id, used)| self.record(BOX, id.0, None, used));
        let cards = batch.cards.iter().map(|card| {
            let (id, list) = (card.header.id, Some(card.box_id.to_string()));
            let body = bodies.get(&id).map_or("null", String::as_str);
            let body = format!("[{},{body}]", text_of(card));
            Record { body, ..self.record(CARD, id.0, list, &()) }
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
        let key = (kind.to_owned(), id);
        let version = self.versions.get(&key).map_or(1, |before| before.saturating_add(1));
        Record { kind: key.0, id, version, list, body: text_of(body) }
    }
}

/// A row as JSON, at once: a tree of values in between would take several times as long.
fn text_of(row: &impl Serialize) -> String {
    serde_json::to_string(row).expect("names are texts, and numbers are finite")
}

/// The queued turns of an agent, oldest first; at most this many. Each is read by itself.
pub(super) async fn queued(
    store: &Store,
    agent: &AgentId,
    limit: usize,
) -> Result<Vec<Result<(TurnId, TurnRecord), LoadError>>, Unavailable> {
    let list = list_of(QUEUED, agent);
    let which = Records::Listed { kind: TURN, list, after: None, limit };
    let found = store.inner.backend.records(which).await?;
    let turn = |record: Result<Record, Broken>| -> Result<_, LoadError> {
        let record = record?;
        Ok((TurnId(record.id), body_of(&record)?))
    };
    Ok(found.into_iter().map(turn).collect())
}

/// These cards, with their bodies. Unknown ids are left out.
pub(super) async fn cards(store: &Store, which: Records) -> Result<Vec<(Card, Value)>, LoadError> {
    read(store, which).await?.iter().map(body_of).collect()
}

async fn read(store: &Store, which: Records) -> Result<Vec<Record>, LoadError> {
    if matches!(&which, Records::Of(keys) if keys.is_empty()) {
        return Ok(Vec::new());
    }
    let found = store.inner.backend.records(which).await?;
    found.into_iter().map(|record| record.map_err(LoadError::from)).collect()
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
