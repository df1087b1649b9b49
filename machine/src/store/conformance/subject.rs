use std::{
    future::{poll_fn, ready},
    task::Poll,
};

use super::prelude::*;
use crate::store::backend::{Backend, Sequenced};

/// More pages than any check needs, so that a backend that repeats pages cannot hang the suite.
const PAGES: usize = 10_000;

/// The backend that is checked.
pub(super) struct Subject(pub(super) Arc<dyn Backend>);

impl Subject {
    pub(super) fn open(open: &Open<'_>) -> Self {
        Self(open(settings()))
    }

    pub(super) fn open_with(open: &Open<'_>, settings: StoreSettings) -> Self {
        Self(open(settings))
    }

    pub(super) async fn apply(
        &self,
        batch: WriteBatch,
    ) -> Result<Result<AppliedBatch, Rejected>, String> {
        Ok(self.0.apply(batch).await?)
    }

    pub(super) async fn accepts(
        &self,
        batch: impl Into<WriteBatch>,
    ) -> Result<AppliedBatch, String> {
        let batch = batch.into();
        let writes = batch.writes.len();
        let applied = self
            .apply(batch)
            .await?
            .map_err(|rejected| format!("a valid batch was rejected: {rejected:?}"))?;
        let numbers = applied.last.len();
        ensure!(numbers == writes, "{numbers} sequence numbers for {writes} writes");
        Ok(applied)
    }

    /// The batch must be rejected for this reason, and must change nothing.
    pub(super) async fn rejects(
        &self,
        batch: impl Into<WriteBatch>,
        expected: Rejected,
    ) -> Result<(), String> {
        let before = self.snapshot().await?;
        let answer = self.apply(batch.into()).await?;
        ensure!(answer == Err(expected.clone()), "expected {expected:?}, got {answer:?}");
        let after = self.snapshot().await?;
        ensure!(before == after, "{expected:?} changed the store\nfrom {before}\nto {after}");
        Ok(())
    }

    /// Workers drive these kinds from now on.
    pub(super) async fn drives(&self, kinds: &[&str]) -> Result<(), String> {
        let drives = kinds.iter().map(|&kind| kind.to_owned()).collect();
        self.accepts(WriteBatch { drives, ..batch([]) }).await.map(drop)
    }

    /// One event must be accepted, in a separate batch.
    pub(super) async fn apply_event(&self, id: Id, event: Event) -> Result<EventOutcome, String> {
        let text = format!("{event:?}");
        let applied = self
            .accepts(WriteBatch { events: vec![(id, event)], ..batch([]) })
            .await
            .map_err(|wrong| format!("{text}: {wrong}"))?;
        match applied.outcomes[..] {
            [outcome] => Ok(outcome),
            _ => Err(format!("one event has the outcomes {:?}", applied.outcomes)),
        }
    }

    pub(super) async fn work(&self, id: Id) -> Result<Option<Schedule>, String> {
        let (_, work, _) = self.0.task(id).await?;
        Ok(work)
    }

    pub(super) async fn has_work(&self, id: Id) -> Result<Schedule, String> {
        self.work(id).await?.ok_or_else(|| format!("{id} has no work"))
    }

    pub(super) async fn inbox(&self, id: Id) -> Result<Vec<Received>, String> {
        self.messages(Messages::To(id)).await
    }

    pub(super) async fn ready(
        &self,
        kinds: &[&str],
        limit: usize,
        now: Millis,
    ) -> Result<Vec<ReadyMachine>, String> {
        let kinds = kinds.iter().map(|&kind| kind.to_owned()).collect();
        Ok(self.0.ready(kinds, limit, now, Vec::new()).await?)
    }

    /// A row with the digest of the newest line.
    pub(super) async fn row(&self, id: Id) -> Result<(Row, Option<Digest>), String> {
        let mut rows = self.0.rows(vec![id]).await?;
        match (rows.pop(), rows.is_empty()) {
            (Some(FoundRow::Row(row, newest)), true) => Ok((row, newest)),
            (found, _) => Err(format!("the row of {id} is {found:?}")),
        }
    }

    /// The row, the newest digest and the history are those of this machine.
    pub(super) async fn agrees(&self, machine: &Machine) -> Result<(), String> {
        let (row, digest) = self.row(machine.id()).await?;
        let expected = Row { commit_id: row.commit_id, ..machine.row.clone() };
        ensure!(row == expected, "the row is {row:#?}, not {expected:#?}");
        ensure!(digest == Some(machine.newest()), "the newest digest is {digest:?}");
        let history = self.history(machine.id()).await?;
        ensure!(history == machine.lines, "the history is {history:#?}, not {:#?}", machine.lines);
        Ok(())
    }

    pub(super) async fn history(&self, id: Id) -> Result<Vec<Line>, String> {
        self.history_page(id, 0, usize::MAX).await
    }

    pub(super) async fn history_page(
        &self,
        id: Id,
        from: u64,
        limit: usize,
    ) -> Result<Vec<Line>, String> {
        let lines = self.0.history(id, from, limit).await?;
        lines.map_err(|broken| format!("the history of {id} is {broken:?}"))
    }

    /// The whole journal, in pages of this size.
    pub(super) async fn journal(&self, page: usize) -> Result<Vec<Sequenced>, String> {
        let mut all: Vec<Sequenced> = Vec::new();
        for _ in 0..PAGES {
            let after = all.last().map_or(0, |entry| entry.seq);
            let entries = self.0.entries(after, page).await?;
            let count = entries.len();
            ensure!(count <= page, "a page of {page} entries has {count}");
            if entries.is_empty() {
                return Ok(all);
            }
            all.extend(entries);
        }
        Err(format!("the journal does not end, with {page} entries to a page"))
    }

    pub(super) async fn select(&self, filter: Filter) -> Result<Vec<(u64, FoundRow)>, String> {
        Ok(self.0.select(filter).await?)
    }

    pub(super) async fn attempts(&self, which: Attempts) -> Result<Vec<KeyAttempt>, String> {
        let attempts = self.0.attempts(which).await?;
        let sound: Result<Vec<_>, _> = attempts.into_iter().collect();
        sound.map_err(|broken| format!("an attempt is {broken:?}"))
    }

    pub(super) async fn attempts_at(&self, key: &str) -> Result<Vec<KeyAttempt>, String> {
        self.attempts(Attempts::OfKey(key.to_owned())).await
    }

    pub(super) async fn definitions(&self) -> Result<Vec<Arc<Definition>>, String> {
        Ok(self.0.definitions().await?.intact)
    }

    pub(super) async fn newest(&self) -> Result<u64, String> {
        Ok(self.0.newest().await?)
    }

    /// All that is stored, as text to compare.
    pub(super) async fn snapshot(&self) -> Result<String, String> {
        let all = Filter { limit: usize::MAX, whole: true, ..Filter::default() };
        let rows = self.select(all).await?;
        let journal = self.journal(usize::MAX).await?;
        let mut works = Vec::new();
        for (_, found) in &rows {
            if let FoundRow::Row(row, _) = found {
                let children = self.0.children(row.id).await?;
                works.push((row.id, self.0.task(row.id).await?, children));
            }
        }
        let messages = self.0.messages(Messages::All).await?;
        let mut keys: Vec<_> = rows.iter().filter_map(|(_, found)| key_of(found)).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut attempts = Vec::new();
        for key in keys {
            attempts.extend(self.attempts_at(&key).await?);
        }
        let definitions = self.definitions().await?;
        let names: Vec<_> = definitions.iter().map(|definition| &definition.name).collect();
        let newest = self.newest().await?;
        Ok(format!(
            "{newest} {rows:#?} {journal:#?} {attempts:#?} {names:?} {works:#?} {messages:#?}"
        ))
    }
}

fn key_of(found: &FoundRow) -> Option<String> {
    match found {
        FoundRow::Row(row, _) => row.key.clone(),
        FoundRow::Missing(_) | FoundRow::Broken(_) => None,
    }
}

/// Queues work without waiting for it: a backend may wait with that until it is polled.
pub(super) async fn started<T: Send + 'static>(mut answer: Reply<T>) -> Reply<T> {
    match poll_fn(|context| Poll::Ready(answer.as_mut().poll(context))).await {
        Poll::Ready(done) => Box::pin(ready(done)),
        Poll::Pending => answer,
    }
}

/// An unavailable backend breaks the promise.
impl From<Unavailable> for String {
    fn from(error: Unavailable) -> Self {
        format!("unavailable: {error}")
    }
}
