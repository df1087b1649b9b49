use std::sync::Arc;

use crate::{
    definition::Definition,
    id::Id,
    journal::{Digest, DigestKey, Entry},
    store::{backend::Found, error::LoadError, handle::Store, read::load::history},
    stored::{History, Record, Unverified, VerifyError},
};

/// The number of lines read at once.
pub(crate) const PAGE: usize = 1000;

impl Store {
    /// The whole journal of a machine, whatever its kind. Checks that no entry was changed or
    /// removed.
    ///
    /// The result has every entry, so it takes memory for each of them: about 0.7 GB for a million.
    /// [`verify`](Self::verify) and [`subscribe`](Self::subscribe) do not.
    ///
    /// # Errors
    ///
    /// [`LoadError::NotFound`] if no machine has this id, [`LoadError::Unreadable`] if an entry is
    /// not as it was written.
    pub async fn history(&self, id: Id) -> Result<History, LoadError> {
        let mut head = Digest::ZERO;
        let mut entries: Vec<Entry> = Vec::new();
        let known = loop {
            let (page, known) = self.history_page(id, entries.len() as u64, &mut head).await?;
            let count = page.len();
            entries.extend(page);
            if count < PAGE {
                break known;
            }
        };
        if entries.is_empty() {
            return Err(match self.inner.backend.rows(vec![id]).await?.pop() {
                None | Some(Found::Missing(_)) => LoadError::NotFound { id },
                Some(_) => history(id, "it has no journal".to_owned()).into(),
            });
        }
        let used = known.iter().filter(|definition| {
            entries.iter().any(|entry| entry.definition == definition.fingerprint)
        });
        let definitions = used.cloned().collect();
        Ok(History::new(id, entries, definitions))
    }

    /// The next entries of a journal, at most [`PAGE`], and the definitions that they were written under, among
    /// others. `head` is the digest of the entry before, and then that of the last one.
    pub(crate) async fn history_page(
        &self,
        id: Id,
        from: u64,
        head: &mut Digest,
    ) -> Result<(Vec<Entry>, Arc<Vec<Arc<Definition>>>), LoadError> {
        let lines = self.inner.backend.history(id, from, PAGE).await?;
        let lines = lines.map_err(|broken| history(id, broken.reason))?;
        let wanted: Vec<_> = lines.iter().map(|line| line.definition).collect();
        let known = self.inner.definitions.with(&*self.inner.backend, &wanted).await?;
        let mut entries = Vec::with_capacity(lines.len());
        for (number, line) in (from..).zip(lines) {
            if line.number != number {
                let reason = format!("entry {number} of its journal is missing");
                return Err(history(id, reason).into());
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

    /// A machine with its whole history as data, for another store or for JSON. Its digests are made
    /// without the key of this store.
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
        let (row, head) = match self.inner.backend.rows(vec![id]).await?.pop() {
            Some(Found::Row(row, head)) => (row, head),
            Some(Found::Broken(broken)) => return Err(broken.into()),
            None | Some(Found::Missing(_)) => return Err(LoadError::NotFound { id }),
        };
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
        let fingerprints = [record.fingerprint];
        let known = self.inner.definitions.with(&*self.inner.backend, &fingerprints).await?;
        let used = known.iter().filter(|definition| {
            let mut entries = all.entries.iter();
            definition.fingerprint == record.fingerprint
                || entries.any(|entry| entry.definition == definition.fingerprint)
        });
        let definitions = used.cloned().collect();
        Ok(Unverified { record, journal: all.entries, definitions })
    }
}

impl From<VerifyError> for Box<LoadError> {
    fn from(error: VerifyError) -> Self {
        Box::new(error.into())
    }
}
