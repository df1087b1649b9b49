use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use crate::{
    id::Id,
    journal::{Digest, Entry, Fact, Summary},
    store::{
        backend::{FoundRow, Row},
        error::LoadError,
        handle::Store,
        integrity::{check::DeclaredKind, taken::Taken},
        read::{
            history::PAGE,
            load::{history, summary_of},
        },
    },
    stored::{KnownDefinitions, Walk, check_machine},
};

/// A replay of the whole journal of a machine, a page at a time.
struct Replay<'a> {
    store: &'a Store,
    found: &'a FoundRow,
    id: Id,
    /// `None` if the program does not know it.
    kind: Option<&'a DeclaredKind>,
    walk: Walk,
    /// The problem with the first entry that is not legal.
    walked: Result<(), String>,
    /// The number of the newest entry that came into a state.
    entered: u64,
    /// The problem with the first entry that takes another outcome than its call has.
    outcomes: Result<(), String>,
    kinds: &'a [DeclaredKind],
    /// The summary of the entries so far, or why the rules of the context did not take them.
    summary: Result<Summary, LoadError>,
}

impl Store {
    /// Replays the journal of a machine, and compares the result with its row. Of a kind that the
    /// program does not know, the rules of its context are not known. `kinds` read the calls of the
    /// machine.
    pub(in crate::store) async fn replay(
        &self,
        found: FoundRow,
        kind: Option<&DeclaredKind>,
        kinds: &[DeclaredKind],
    ) -> Result<(), LoadError> {
        let mut known = self.definition_of(&found).await?;
        let (row, head) = found.clone().row()?;
        let (row, id) = (&row, row.id);
        let written = Arc::clone(&known);
        let written = written.iter().find(|known| known.fingerprint == row.definition);
        let own = kind.map(|kind| kind.definition).or(written.map(|written| &**written));
        let mut replay = Replay {
            store: self,
            found: &found,
            id,
            kind,
            walk: Walk::new(&row.machine),
            walked: Ok(()),
            entered: 0,
            outcomes: Ok(()),
            kinds,
            summary: Ok(Summary::NEW),
        };
        let (mut read, mut digest) = (0, Digest::ZERO);
        while read < row.version {
            let mut entries;
            (entries, known) = self.history_page(id, (read, PAGE), &mut digest).await?;
            // A commit may have come in between.
            entries.truncate(usize::try_from(row.version - read).unwrap_or(PAGE));
            if entries.is_empty() {
                break;
            }
            read += entries.len() as u64;
            if let Some(own) = own {
                let known = KnownDefinitions { own, older: &known };
                replay.page(&known, &entries, read == row.version);
                replay.outcomes(&known, &entries).await?;
            }
        }
        if read == 0 && row.version > 0 {
            return Err(history_error(id, "it has no journal".to_owned()));
        }
        // Problems of the row are reported before those of the moves.
        self.refuse_more(row).await?;
        self.intact(row, head)?;
        if read < row.version {
            return Err(history_error(id, format!("entry {read} of its journal is missing")));
        }
        if let Some(kind) = kind {
            check_machine(kind.definition, id, &row.machine)?;
        }
        let own = own.ok_or_else(|| {
            history_error(id, "it was written under an unknown definition".to_owned())
        })?;
        replay.finish(&KnownDefinitions { own, older: &known }, row, head)
    }

    /// Refuses a journal with more entries than the row says, unless the row has moved on, too.
    async fn refuse_more(&self, row: &Row) -> Result<(), LoadError> {
        let more = self.inner.backend.history(row.id, row.version, 1).await?;
        if more.is_ok_and(|more| more.is_empty()) {
            return Ok(());
        }
        match self.found(row.id).await? {
            FoundRow::Row(now, _) if now.version > row.version => Ok(()),
            _ => Err(more_entries(row.id)),
        }
    }
}

impl Replay<'_> {
    /// Follows the next entries. After the last of them, the rules of the context must hold.
    fn page(&mut self, known: &KnownDefinitions<'_>, entries: &[Entry], is_last: bool) {
        let (id, key) = (self.id, &self.store.inner.key);
        if self.walked.is_ok() {
            self.walked = entries.iter().try_for_each(|entry| self.walk.step(known, entry, key));
        }
        let (Ok(()), Ok(summary)) = (&self.walked, &mut self.summary) else { return };
        let Some(kind) = self.kind else {
            for entry in entries {
                summary.add(entry);
            }
            return;
        };
        let found = self.found.clone();
        let fold = || (kind.fold)(self.store, found, known.older, summary, (entries, is_last));
        // If the user's code panics, that concerns this machine only.
        self.summary = catch_unwind(AssertUnwindSafe(fold))
            .unwrap_or_else(|_| Err(history_error(id, "reading it panicked".to_owned())));
    }

    /// Compares the outcomes that the next entries take with their calls.
    async fn outcomes(
        &mut self,
        known: &KnownDefinitions<'_>,
        entries: &[Entry],
    ) -> Result<(), LoadError> {
        for entry in entries {
            // Entries that are not legal are reported first.
            if self.walked.is_err() || self.outcomes.is_err() {
                break;
            }
            let (machine, entered) = (self.id, self.entered);
            let taken = Taken { machine, entry, entered, kind: self.kind, kinds: self.kinds };
            if let Some(wrong) = self.store.differing_outcome(&taken, known).await? {
                self.outcomes = Err(wrong);
            }
            if let Fact::Created { .. } | Fact::Moved { stays: false, .. } = &entry.fact {
                self.entered = entry.number;
            }
        }
        Ok(())
    }

    /// Compares the result with the row.
    fn finish(
        self,
        known: &KnownDefinitions<'_>,
        row: &Row,
        head: Option<Digest>,
    ) -> Result<(), LoadError> {
        let Self { store, found, id, walk, kind, summary, outcomes, .. } = self;
        let end = || walk.finish(known, row.definition, &row.status, row.epoch);
        let walked = self.walked.and_then(|()| end());
        let (_, newest) = walked.map_err(|reason| history_error(id, reason))?;
        if head != Some(newest) {
            return Err(more_entries(id));
        }
        outcomes.map_err(|reason| history_error(id, reason))?;
        let mut summary = summary?;
        let stored = summary_of(row)?;
        if kind.is_none() {
            // The part of the context needs the program's own rules.
            (summary.format, summary.context) = (stored.format, stored.context.clone());
        }
        // One of another format is folded again when the machine is loaded.
        if stored.format == summary.format && stored != summary {
            return Err(history_error(id, "its summary does not match its journal".to_owned()));
        }
        let Some(kind) = kind else { return Ok(()) };
        let index = || (kind.index)(store, found.clone(), known.older);
        let index = catch_unwind(AssertUnwindSafe(index)).ok().flatten();
        if index.is_some_and(|index| index.needs_acknowledgement() != row.contradicted) {
            let reason = "its row and its evidence differ on whether it is contradicted";
            return Err(history_error(id, reason.to_owned()));
        }
        Ok(())
    }
}

fn more_entries(id: Id) -> LoadError {
    history_error(id, "its journal has more entries than its row says".to_owned())
}

fn history_error(id: Id, reason: String) -> LoadError {
    history(id, reason).into()
}
