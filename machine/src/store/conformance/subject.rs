use std::{
    future::{poll_fn, ready},
    task::Poll,
};

use super::prelude::*;
use crate::store::backend::{Backend, Broken, Sequenced};

/// More pages than any check needs, so that a backend that repeats pages cannot hang the suite.
const PAGES: usize = 10_000;

/// The backend that is checked.
pub(super) struct Subject(pub(super) Arc<dyn Backend>);

impl Subject {
    pub(super) fn open(open: &Open<'_>) -> Self {
        Self(open(settings()))
    }

    pub(super) async fn apply(&self, batch: WriteBatch) -> Kept<Result<AppliedBatch, Rejected>> {
        Ok(self.0.apply(batch).await?)
    }

    pub(super) async fn accepts(&self, batch: impl Into<WriteBatch>) -> Kept<AppliedBatch> {
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
        expected: impl Into<Rejected>,
    ) -> Kept {
        let expected = expected.into();
        let answer = self.unchanged(self.apply(batch.into())).await?;
        same!(answer, Err(expected), "a batch");
        Ok(())
    }

    /// The event must be refused, and must change nothing.
    pub(super) async fn refuses(&self, id: Id, event: Event, refusal: EventRefusal) -> Kept {
        self.rejects(events(id, [event]), Rejected::Refused { id, refusal }).await
    }

    /// The work must leave everything as it is.
    pub(super) async fn unchanged<T>(&self, work: impl Future<Output = Kept<T>>) -> Kept<T> {
        let before = self.snapshot().await?;
        let answer = work.await?;
        let after = self.snapshot().await?;
        ensure!(before == after, "the store changed\nfrom {before}\nto {after}");
        Ok(answer)
    }

    /// Creates these machines in one batch.
    pub(super) async fn creates<const N: usize>(&self, machines: [&mut Machine; N]) -> Kept {
        self.accepts(machines.map(Machine::create)).await.map(drop)
    }

    /// Creates a machine as a child.
    pub(super) async fn adds(&self, child: NewChild, it: &mut Machine) -> Kept {
        let children = vec![child];
        self.accepts(WriteBatch { children, ..batch([it.create()]) }).await.map(drop)
    }

    /// Moves children of a machine.
    pub(super) async fn moves<const N: usize>(&self, moved: [(Id, Kinship); N]) -> Kept {
        let moved_children = moved.into();
        self.accepts(WriteBatch { moved_children, ..batch([]) }).await.map(drop)
    }

    /// A worker takes a message by a transition.
    pub(super) async fn takes(&self, it: &mut Machine, correlation: &str) -> Kept {
        let (token, _) = self.claims(it.id(), Attempted::Message(correlation.to_owned())).await?;
        let events = vec![(it.id(), moved(token, Some(correlation)))];
        self.accepts(WriteBatch { events, ..batch([it.update(1)]) }).await.map(drop)
    }

    /// Workers drive these kinds from now on.
    pub(super) async fn drives(&self, kinds: &[&str]) -> Kept {
        self.accepts(WriteBatch { drives: owned(kinds), ..batch([]) }).await.map(drop)
    }

    /// One event must be accepted, in a separate batch.
    pub(super) async fn apply_event(&self, id: Id, event: Event) -> Kept<EventOutcome> {
        let text = format!("{event:?}");
        let applied = self.accepts(events(id, [event])).await;
        let outcomes = applied.map_err(|wrong| format!("{text}: {wrong}"))?.outcomes;
        match outcomes[..] {
            [outcome] => Ok(outcome),
            _ => Err(format!("one event has the outcomes {outcomes:?}")),
        }
    }

    /// One event must be accepted with this outcome.
    pub(super) async fn answers(&self, id: Id, event: Event, expected: EventOutcome) -> Kept {
        let text = format!("the answer to {event:?}");
        same!(self.apply_event(id, event).await?, expected, "{text}");
        Ok(())
    }

    pub(super) async fn work(&self, id: Id) -> Kept<Option<Schedule>> {
        let (_, work, _) = self.0.task(id).await?;
        Ok(work)
    }

    pub(super) async fn has_work(&self, id: Id) -> Kept<Schedule> {
        self.work(id).await?.ok_or_else(|| format!("{id} has no work"))
    }

    pub(super) async fn inbox(&self, id: Id) -> Kept<Vec<Received>> {
        self.messages(Messages::To(id)).await
    }

    pub(super) async fn ready(
        &self,
        kinds: &[&str],
        limit: usize,
        now: Millis,
    ) -> Kept<Vec<ReadyMachine>> {
        Ok(self.0.ready(owned(kinds), limit, now, Vec::new()).await?)
    }

    /// A row with the digest of the newest line.
    pub(super) async fn row(&self, id: Id) -> Kept<(Row, Option<Digest>)> {
        let mut rows = self.0.rows(vec![id]).await?;
        match (rows.pop(), rows.is_empty()) {
            (Some(FoundRow::Row(row, newest)), true) => Ok((row, newest)),
            (found, _) => Err(format!("the row of {id} is {found:?}")),
        }
    }

    /// The row, the newest digest and the history are those of this machine.
    pub(super) async fn agrees(&self, machine: &Machine) -> Kept {
        let (row, digest) = self.row(machine.id()).await?;
        let expected = Row { commit_id: row.commit_id, ..machine.row.clone() };
        same!(row, expected, "the row");
        same!(digest, Some(machine.newest()), "the newest digest");
        same!(self.history(machine.id()).await?, machine.lines, "the history");
        Ok(())
    }

    pub(super) async fn history(&self, id: Id) -> Kept<Vec<Line>> {
        self.history_page(id, 0, usize::MAX).await
    }

    pub(super) async fn history_page(&self, id: Id, from: u64, limit: usize) -> Kept<Vec<Line>> {
        let lines = self.0.history(id, from, limit).await?;
        lines.map_err(|broken| format!("the history of {id} is {broken:?}"))
    }

    /// The whole journal, in pages of this size.
    pub(super) async fn journal(&self, page: usize) -> Kept<Vec<Sequenced>> {
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

    pub(super) async fn select(&self, filter: Filter) -> Kept<Vec<(u64, FoundRow)>> {
        Ok(self.0.select(filter).await?)
    }

    pub(super) async fn attempts(&self, which: Attempts) -> Kept<Vec<KeyAttempt>> {
        sound(self.0.attempts(which).await?)
    }

    pub(super) async fn attempts_at(&self, key: &str) -> Kept<Vec<KeyAttempt>> {
        self.attempts(Attempts::OfKey(key.to_owned())).await
    }

    pub(super) async fn records(&self, which: Records) -> Kept<Vec<Record>> {
        sound(self.0.records(which).await?)
    }

    pub(super) async fn newest(&self) -> Kept<u64> {
        Ok(self.0.newest().await?)
    }

    /// All that is stored, as text to compare.
    pub(super) async fn snapshot(&self) -> Kept<String> {
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
        let attempts = self.0.attempts(Attempts::All).await?;
        let definitions = self.0.newest_definition().await?;
        let records = self.0.records(Records::All).await?;
        let newest = self.newest().await?;
        Ok(format!(
            "{newest} {definitions} {rows:#?} {journal:#?} {attempts:#?} {works:#?} {messages:#?} {records:#?}"
        ))
    }
}

/// These rows, none of which may be broken.
pub(super) fn sound<T>(rows: Vec<Result<T, Broken>>) -> Kept<Vec<T>> {
    let sound: Result<Vec<T>, Broken> = rows.into_iter().collect();
    sound.map_err(|broken| format!("a row is {broken:?}"))
}

pub(super) fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
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
