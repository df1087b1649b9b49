use std::time::Duration;

use crate::{
    clock::{Millis, earlier},
    store::{
        backend::{Filter, FoundRow, WriteBatch},
        error::{LoadError, Unavailable},
        integrity::verify::{Verifier, VerifyReport},
        upkeep::{pruned::Pruned, pruning::Candidate},
    },
    stored::Index,
};

/// Which machines [`Store::prune`](crate::store::Store::prune) deletes.
///
/// ```
/// use std::time::Duration;
/// use machine::{actor::Human, store::{Prune, Store}};
///
/// # pollster::block_on(async {
/// # let store = Store::memory();
/// let ann = Human::new("ann@example.com")?;
/// let mut old = Prune::ended_for(Duration::from_hours(90 * 24));
/// old.machine = Some("execution".to_owned());
/// let pruned = store.prune(&old, &ann).await?;
/// println!("deleted {pruned}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct Prune {
    /// Only machines that ended at least this long ago: the time of their last journal entry,
    /// against the clock of the store.
    pub ended_for: Duration,
    /// Only machines of this kind, such as `execution`.
    pub machine: Option<String>,
    /// If there are any, only machines in a state with one of these names, such as `completed`.
    pub statuses: Vec<String>,
    /// Also deletes executions that ended as not done although a receipt says that they were done.
    /// By default, they are kept.
    pub contradicted: bool,
}

impl Prune {
    /// All machines that ended at least this long ago.
    #[must_use]
    pub fn ended_for(ended_for: Duration) -> Self {
        Self { ended_for, machine: None, statuses: Vec::new(), contradicted: false }
    }

    fn filter(&self, now: Millis) -> Filter {
        Filter {
            machine: self.machine.clone(),
            statuses: self.statuses.clone(),
            unchanged_since: Some(earlier(now, self.ended_for)),
            ended: true,
            whole: true,
            limit: PAGE,
            ..Filter::default()
        }
    }
}

const PAGE: usize = 64;

/// The maximum number of entries that a commit deletes, unless one machine has more.
const ENTRIES: u64 = 1000;

impl Verifier<'_> {
    /// Deletes machines that have ended, each verified before, in small commits. Machines of the
    /// known kinds tell by their index whether they are kept.
    pub(crate) async fn prune(&self, prune: &Prune) -> Result<Pruned, Unavailable> {
        let mut pruned = Pruned::default();
        let mut filter = prune.filter(self.store.now());
        loop {
            let rows = self.store.inner.backend.select(filter.clone()).await?;
            let Some((last, _)) = rows.last() else { break };
            filter.after = Some((Millis::MIN, *last));
            let mut candidates = Vec::new();
            let mut entries = 0;
            for (_, found) in rows {
                let candidate = self.candidate(prune, found, &mut pruned).await?;
                let Some(candidate) = candidate else { continue };
                entries += candidate.version;
                candidates.push(candidate);
                if entries >= ENTRIES {
                    self.prune_batch(std::mem::take(&mut candidates), &mut pruned).await?;
                    entries = 0;
                }
            }
            self.prune_batch(candidates, &mut pruned).await?;
        }
        Ok(pruned)
    }

    /// A machine that may be pruned, as far as the machine itself says.
    async fn candidate(
        &self,
        prune: &Prune,
        found: FoundRow,
        pruned: &mut Pruned,
    ) -> Result<Option<Candidate>, Unavailable> {
        let mut report = VerifyReport::default();
        match self.row(found.clone(), &mut report).await {
            Ok(_) => {}
            Err(LoadError::Unavailable(error)) => return Err(error),
            Err(error) => report.add(None, error.to_string()),
        }
        if !report.is_clean() {
            pruned.problems.append(&mut report.problems);
            return Ok(None);
        }
        let FoundRow::Row(row, _) = &found else { return Ok(None) };
        let candidate = Candidate { id: row.id, version: row.version };
        let Some(kind) = self.kinds.iter().find(|kind| kind.definition.name == row.machine) else {
            // Its attempts have all information of its permits.
            return Ok(Some(candidate));
        };
        let definitions = LoadError::readable(self.store.definition_of(&found).await)?;
        let Some(definitions) = definitions else { return Ok(None) };
        // A row without an index was verified above, so it has changed since.
        let index = (kind.index)(self.store, found, &definitions);
        let is_needed = index.is_none_or(|index| is_needed(prune, &index, self.store.now()));
        Ok((!is_needed).then_some(candidate))
    }

    async fn prune_batch(
        &self,
        prune: Vec<Candidate>,
        pruned: &mut Pruned,
    ) -> Result<(), Unavailable> {
        if prune.is_empty() {
            return Ok(());
        }
        let batch = WriteBatch { prune, ..self.store.new_batch() };
        // It has no preconditions, so nothing in it can be rejected.
        let applied = self.store.inner.backend.apply(batch).await?.unwrap_or_default();
        for entries in applied.pruned.into_iter().flatten() {
            pruned.machines += 1;
            pruned.entries += entries;
        }
        Ok(())
    }
}

/// Returns whether a machine must be kept, as far as its own history says.
fn is_needed(prune: &Prune, index: &Index, now: Millis) -> bool {
    let may_be_answered = index.answer_until.is_some_and(|until| until > now);
    index.permit.is_some() || may_be_answered || (index.contradicted && !prune.contradicted)
}
