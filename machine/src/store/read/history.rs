use std::sync::Arc;

use crate::{
    definition::Definition,
    id::Id,
    journal::{Digest, DigestKey, Entry, Fact},
    store::{
        backend::FoundRow,
        error::LoadError,
        handle::Store,
        read::{load::history, observe::Observed},
    },
    stored::{History, Newest, Record, Unverified, VerifyError},
};

/// The number of lines read at once.
pub(crate) const PAGE: usize = 1000;

impl Store {
    /// The whole journal of a machine of any kind. Checks that no entry was changed or
    /// removed.
    ///
    /// The result holds every entry in memory: about 0.7 GB for a million. [`verify`](Self::verify)
    /// and [`subscribe`](Self::subscribe) need less.
    ///
    /// # Errors
    ///
    /// [`LoadError::NotFound`] if no machine has this id, [`LoadError::Unreadable`] if an entry was
    /// altered.
    pub async fn history(&self, id: Id) -> Result<History, LoadError> {
        let mut head = Digest::ZERO;
        let mut entries: Vec<Entry> = Vec::new();
        let known = loop {
            let from = entries.len() as u64;
            let (page, known) = self.history_page(id, (from, PAGE), &mut head).await?;
            let count = page.len();
            entries.extend(page);
            if count < PAGE {
                break known;
            }
        };
        if entries.is_empty() {
            return Err(match self.found(id).await? {
                FoundRow::Missing(_) => LoadError::NotFound { id },
                _ => history(id, "it has no journal".to_owned()).into(),
            });
        }
        let used = known.iter().filter(|definition| {
            entries.iter().any(|entry| entry.definition == definition.fingerprint)
        });
        let definitions = used.cloned().collect();
        Ok(History::new(id, entries, definitions))
    }

    /// A part of the journal of a machine of any kind: at most `limit` entries from this number on,
    /// and a few before them. However long the journal is, no others are read.
    ///
    /// Their digests chain, from that of the entry before the first of them. A part with the newest
    /// entry is what the sealed row has as its head; for an earlier one, only
    /// [`verify`](Self::verify) shows that.
    pub(crate) async fn history_part(
        &self,
        id: Id,
        from: u64,
        limit: usize,
    ) -> Result<HistoryPart, LoadError> {
        let observed = match self.observed_one(id).await {
            Ok(observed) => observed,
            Err(LoadError::Unavailable(error)) => return Err(error.into()),
            // Its history can be read all the same, but only the whole of it says how long it is.
            Err(error) => {
                return self.history(id).await.map(|all| HistoryPart::of(all, error, from, limit));
            }
        };
        let total = observed.row.version;
        let (first, end) = bounds(from, limit, total);
        let transitions = match first {
            0 | 1 => 0,
            _ => self.inner.backend.moves_before(id, first).await?,
        };
        let mut head = Digest::ZERO;
        if let Some(before) = first.checked_sub(1) {
            let line = self.inner.backend.history(id, before, 1).await?;
            let line = line.map_err(|broken| history(id, broken.reason))?.pop();
            head = line.ok_or_else(|| missing(id, before))?.digest;
        }
        let (mut entries, mut definitions) = (Vec::new(), Arc::default());
        loop {
            let at = first + entries.len() as u64;
            let left = usize::try_from(end - at).unwrap_or(PAGE).min(PAGE);
            if left == 0 {
                break;
            }
            let page;
            (page, definitions) = self.history_page(id, (at, left), &mut head).await?;
            if page.is_empty() {
                // It may have been pruned in between.
                self.observed_one(id).await?;
                return Err(missing(id, at).into());
            }
            entries.extend(page);
        }
        let Observed { head: newest, definition, newest: kind, state, data, summary, .. } =
            observed;
        let has_newest = end == total && !entries.is_empty();
        if has_newest && head != newest {
            let reason = format!("entry {} of its journal was changed", total - 1);
            return Err(history(id, reason).into());
        }
        let mut part = History::new(id, entries, definitions.to_vec());
        part.newest =
            has_newest.then_some(Newest { definition, state, data, entered: summary.entered });
        Ok(HistoryPart { history: part, kind: Ok(kind), from, transitions, total })
    }

    /// The next entries of a journal, at most `limit`, and the definitions that they were written
    /// under, among others. `head` is the digest of the entry before, and then that of the last
    /// one.
    pub(super) async fn history_page(
        &self,
        id: Id,
        (from, limit): (u64, usize),
        head: &mut Digest,
    ) -> Result<(Vec<Entry>, Arc<Vec<Arc<Definition>>>), LoadError> {
        let lines = self.inner.backend.history(id, from, limit).await?;
        let lines = lines.map_err(|broken| history(id, broken.reason))?;
        let wanted: Vec<_> = lines.iter().map(|line| line.definition).collect();
        let known = self.definitions_with(&wanted).await?;
        let mut entries = Vec::with_capacity(lines.len());
        for (number, line) in (from..).zip(lines) {
            if line.number != number {
                return Err(missing(id, number).into());
            }
            if line.digest != line.expected_digest(&self.inner.key, head) {
                let reason = format!("entry {number} of its journal was changed");
                return Err(history(id, reason).into());
            }
            *head = line.digest;
            let mut definitions = known.iter();
            let fingerprint = line.definition;
            let written = definitions.find(|known| known.fingerprint == fingerprint);
            let entry = match written {
                Some(definition) => Entry::of_line(line, definition),
                None => Err(format!("entry {number} was written under an unknown definition")),
            };
            entries.push(entry.map_err(|reason| history(id, reason))?);
        }
        Ok((entries, known))
    }

    /// A machine with its whole history as data, for another store or for JSON. Its digests are
    /// made without the key of this store.
    ///
    /// ```
    /// # use machine::{Id, contract::AnyExecution, store::Store};
    /// # async fn example(here: &Store, there: &Store, id: Id) -> Result<(), Box<dyn std::error::Error>> {
    /// let mut copy: AnyExecution = here.export(id).await?.verify()?;
    /// there.create(&mut copy).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`history`](Self::history).
    pub async fn export(&self, id: Id) -> Result<Unverified, LoadError> {
        let (row, head) = self.found(id).await?.row()?;
        let (context, _) = self.intact(&row, head)?;
        let mut all = self.history(id).await?;
        // A commit may have come in between; the row decides.
        all.entries.truncate(usize::try_from(row.version).unwrap_or(usize::MAX));
        let mut head = Digest::ZERO;
        for at in 0..all.entries.len() {
            let entry = &all.entries[at];
            let line = match all.definition(entry) {
                Some(definition) => entry.to_line(definition, &DigestKey::default(), &head),
                None => Err(format!("entry {at} was written under an unknown definition")),
            };
            head = line.map_err(|reason| history(id, reason))?.digest;
            all.entries[at].digest = Some(head);
        }
        let mut record = Record {
            id,
            machine: row.machine,
            fingerprint: row.definition,
            status: row.status,
            state: row.state,
            context: context.to_string(),
            epoch: row.epoch,
            seal: Digest::ZERO,
        };
        record.seal = record.expected_seal(&head);
        let known = self.definitions_with(&[record.fingerprint]).await?;
        let used = known.iter().filter(|definition| {
            let mut entries = all.entries.iter();
            definition.fingerprint == record.fingerprint
                || entries.any(|entry| entry.definition == definition.fingerprint)
        });
        let definitions = used.cloned().collect();
        Ok(Unverified { record, journal: all.entries, definitions })
    }
}

#[derive(Debug)]
pub(crate) struct HistoryPart {
    /// The entries, and a few before them.
    pub(crate) history: History,
    /// The newest definition of its kind, or why its row cannot be read. The row says how long the
    /// history is: without it, newer entries may be missing.
    pub(crate) kind: Result<Arc<Definition>, LoadError>,
    /// The number of the first entry that was asked for.
    pub(crate) from: u64,
    /// The number of transitions before the first entry.
    pub(crate) transitions: u64,
    /// The number of entries of the whole history.
    pub(crate) total: u64,
}

impl HistoryPart {
    fn of(mut all: History, error: LoadError, from: u64, limit: usize) -> Self {
        let total = all.entries.len() as u64;
        let (first, end) = bounds(from, limit, total);
        let place = |number| usize::try_from(number).unwrap_or(usize::MAX);
        all.entries.truncate(place(end));
        let before = all.entries.drain(..place(first));
        let moves = before.filter(|entry| matches!(entry.fact, Fact::Moved { .. })).count();
        Self { history: all, kind: Err(error), from, transitions: moves as u64, total }
    }
}

/// The number of entries that are read before a part: they tell what the data of states were.
const LOOK_BACK: u64 = 100;

/// The numbers of the first entry of a part, with those before it, and of the first one after it.
fn bounds(from: u64, limit: usize, total: u64) -> (u64, u64) {
    if from >= total {
        return (total, total);
    }
    (from.saturating_sub(LOOK_BACK), from.saturating_add(limit as u64).min(total))
}

fn missing(id: Id, number: u64) -> VerifyError {
    history(id, format!("entry {number} of its journal is missing"))
}
