use std::time::Duration;

use crate::{
    actor::{Actor, Human},
    clock::Millis,
    id::Id,
    store::{
        backend::{AppliedBatch, Filter, FoundRow, WriteBatch},
        error::{LoadError, Unavailable},
        handle::Store,
        integrity::{check::DeclaredKind, verify::VerifyReport},
        upkeep::{
            pruned::{Kept, PruneProgress, Pruned, Pruning},
            pruning::{self, Candidate},
        },
    },
    stored::Index,
};

/// Which machines [`Store::prune`] deletes.
///
/// ```
/// use std::time::Duration;
/// use machine::{actor::Human, store::{Prune, Store}};
///
/// # pollster::block_on(async {
/// # let store = Store::memory();
/// let ann = Human::new("ann@example.com")?;
/// let old = Prune::ended_for(Duration::from_hours(90 * 24)).machine("execution");
/// let would = store.prune(&old.clone().dry_run(), &ann, |_| {}).await?;
/// println!("{} machines with {} entries", would.machines, would.entries);
/// store.prune(&old, &ann, |_| {}).await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct Prune {
    age: Age,
    machine: Option<String>,
    statuses: Vec<String>,
    contradicted: bool,
    dry_run: bool,
}

#[derive(Debug, Clone, Copy)]
enum Age {
    Before(Millis),
    For(Duration),
}

impl Prune {
    /// Machines that ended before this time (milliseconds since the Unix epoch): their last journal entry
    /// is older. Entries have the time of the system clock.
    #[must_use]
    pub fn ended_before(at: Millis) -> Self {
        Self::of(Age::Before(at))
    }

    /// Machines that ended at least this long ago: the time of their last journal entry, against the clock
    /// of the store.
    #[must_use]
    pub fn ended_for(time: Duration) -> Self {
        Self::of(Age::For(time))
    }

    fn of(age: Age) -> Self {
        Self { age, machine: None, statuses: Vec::new(), contradicted: false, dry_run: false }
    }

    /// Only machines of this kind, such as `execution`.
    #[must_use]
    pub fn machine(mut self, name: impl Into<String>) -> Self {
        self.machine = Some(name.into());
        self
    }

    /// Only machines in the state with this name, such as `completed`.
    #[must_use]
    pub fn status(mut self, name: impl Into<String>) -> Self {
        self.statuses = vec![name.into()];
        self
    }

    /// Only machines in one of the states with these names.
    #[must_use]
    pub fn statuses(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.statuses = names.into_iter().collect();
        self
    }

    /// Also executions that ended as not done although a receipt says that they were done. By default
    /// they are [kept](Kept::Contradicted).
    #[must_use]
    pub fn contradicted(mut self) -> Self {
        self.contradicted = true;
        self
    }

    /// Deletes nothing, and reports the machines that would be deleted.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self
    }

    pub(crate) fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    fn filter(&self, now: Millis) -> Filter {
        let unchanged_since = match self.age {
            Age::Before(at) => at.saturating_sub(1),
            Age::For(time) => {
                now.saturating_sub(Millis::try_from(time.as_millis()).unwrap_or(Millis::MAX))
            }
        };
        Filter {
            machine: self.machine.clone(),
            statuses: self.statuses.clone(),
            unchanged_since: Some(unchanged_since),
            ended: true,
            whole: true,
            limit: PAGE,
            ..Filter::default()
        }
    }
}

/// The number of machines examined together.
const PAGE: usize = 64;

/// The maximum number of entries that a commit deletes, unless one machine has more.
const ENTRIES: u64 = 1000;

impl Store {
    /// Deletes machines that have ended, in small commits. Machines of the kinds that are named are verified by their
    /// rules, and tell by their index whether they are kept.
    pub(crate) async fn prune_kinds(
        &self,
        named: &[DeclaredKind],
        prune: &Prune,
        by: &Human,
        mut progress: impl FnMut(PruneProgress),
    ) -> Result<Pruned, Unavailable> {
        let mut pruned = Pruned::default();
        let mut looked_at = 0;
        // A person has a name.
        let human = by.name().unwrap_or_default().to_owned();
        let run = pruning::PruneBatch { id: Id::fresh(), human, candidates: Vec::new() };
        let mut filter = prune.filter(self.now());
        loop {
            let rows = self.inner.backend.select(filter.clone()).await?;
            let Some((last, _)) = rows.last() else { break };
            filter.after = Some((Millis::MIN, *last));
            looked_at += rows.len() as u64;
            let mut candidates = Vec::new();
            let mut entries = 0;
            for (_, found) in rows {
                let Some(candidate) = self.candidate(prune, found, named, &mut pruned).await?
                else {
                    continue;
                };
                entries += candidate.version;
                candidates.push(candidate);
                if entries >= ENTRIES {
                    let batch = pruning::PruneBatch {
                        candidates: std::mem::take(&mut candidates),
                        ..run.clone()
                    };
                    self.prune_batch(prune.dry_run, batch, &mut pruned).await?;
                    entries = 0;
                }
            }
            let batch = pruning::PruneBatch { candidates, ..run.clone() };
            self.prune_batch(prune.dry_run, batch, &mut pruned).await?;
            let Pruned { machines, entries, .. } = pruned;
            progress(PruneProgress { looked_at, machines, entries });
        }
        Ok(pruned)
    }

    /// The records of who pruned what, oldest first. One that cannot be read is an error at its position.
    ///
    /// # Errors
    ///
    /// [`Unavailable`] if the storage cannot be read now.
    pub async fn prunings(&self) -> Result<Vec<Result<Pruning, LoadError>>, Unavailable> {
        let found = self.inner.backend.prunings().await?.into_iter();
        Ok(found.map(|(_, found)| found.map_err(LoadError::from)).collect())
    }

    /// A machine that may be pruned, as far as the machine itself says.
    async fn candidate(
        &self,
        prune: &Prune,
        found: FoundRow,
        named: &[DeclaredKind],
        pruned: &mut Pruned,
    ) -> Result<Option<Candidate>, Unavailable> {
        let mut report = VerifyReport::default();
        let verified = self.verify_row(found.clone(), named, &mut report).await;
        if let Err(error) = verified {
            match error {
                LoadError::Unavailable(error) => return Err(error),
                error => report.add(None, error.to_string()),
            }
        }
        if !report.is_clean() {
            pruned.problems.append(&mut report.problems);
            return Ok(None);
        }
        let FoundRow::Row(row, _) = &found else { return Ok(None) };
        let candidate = Candidate { id: row.id, version: row.version };
        let kept = match named.iter().find(|kind| kind.definition.name == row.machine) {
            Some(kind) => {
                let definitions = match self.definition_of(&found).await {
                    Ok(definitions) => definitions,
                    Err(LoadError::Unavailable(error)) => return Err(error),
                    Err(_) => return Ok(None),
                };
                match (kind.index)(self, found.clone(), &definitions) {
                    Some(index) => kept(prune, &index, self.now()),
                    // It was verified above, so it has changed since.
                    None => Some(Kept::Changed),
                }
            }
            // Its attempts have all information of its permits.
            None => None,
        };
        match kept {
            Some(kept) => {
                *pruned.kept.entry(kept).or_default() += 1;
                Ok(None)
            }
            None => Ok(Some(candidate)),
        }
    }

    /// Prunes some machines in one commit.
    async fn prune_batch(
        &self,
        dry_run: bool,
        prune: pruning::PruneBatch,
        pruned: &mut Pruned,
    ) -> Result<(), Unavailable> {
        if prune.candidates.is_empty() {
            return Ok(());
        }
        let outcomes = if dry_run {
            self.inner.backend.prunable(prune.candidates).await?
        } else {
            let batch = WriteBatch { prune: Some(prune), ..self.new_batch() };
            // It has no preconditions, so nothing in it can be rejected.
            let applied = self.inner.backend.apply(batch).await?;
            applied.map(|AppliedBatch { pruned, .. }| pruned).unwrap_or_default()
        };
        for outcome in outcomes {
            match outcome {
                Ok(entries) => {
                    pruned.machines += 1;
                    pruned.entries += entries;
                }
                Err(kept) => *pruned.kept.entry(kept).or_default() += 1,
            }
        }
        Ok(())
    }
}

/// Why a machine must be kept, as far as its own history says.
fn kept(prune: &Prune, index: &Index, now: Millis) -> Option<Kept> {
    let may_be_answered = index.answer_until.is_some_and(|until| until > now);
    if index.permit.is_some() || may_be_answered {
        Some(Kept::Unanswered)
    } else if index.contradicted && !prune.contradicted {
        Some(Kept::Contradicted)
    } else {
        None
    }
}
