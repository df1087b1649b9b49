//! Verification and retention, for which executions are a kind that the program need not declare.

use crate::{
    actor::Human,
    contract::AnyExecution,
    id::Id,
    store::{
        Prune, Pruned,
        error::{LoadError, Unavailable},
        handle::Store,
        integrity::{
            check::DeclaredKind,
            verify::{Verifier, VerifyProgress, VerifyReport},
        },
        operation::Act,
    },
    stored::Restore,
};

impl Store {
    /// Verifies machines by the kinds that this program reads.
    pub(crate) fn verifier(&self) -> Verifier<'_> {
        let mut kinds = self.inner.declared.machines.clone();
        kinds.push(DeclaredKind::of::<AnyExecution>());
        Verifier { store: self, kinds }
    }

    /// Verifies the whole history of a machine: replays its journal under its stored definitions,
    /// folds it again, and compares the result with the row that [`load`](Self::load) trusts.
    /// Compares each outcome that the machine took with its call. However long the history is, only
    /// a part of it is in memory at a time.
    ///
    /// # Errors
    ///
    /// The errors of [`load`](Self::load), with the first problem.
    pub async fn verify<M: Restore>(&self, id: Id) -> Result<(), LoadError> {
        self.verifier().history(&DeclaredKind::of::<M>(), id).await
    }

    /// Verifies everything in the store: each machine as [`verify`](Self::verify) does, the
    /// definitions, the chain over the whole journal, the attempts at each key, the messages, the
    /// operator log, the triggers and indexes of a file, and its pages, with SQLite's
    /// `integrity_check`. That check is one read transaction, during which the write-ahead log
    /// cannot restart at its beginning. Machines of a kind that the program has not declared with
    /// [`OpenOptions::machine`](crate::store::OpenOptions::machine) are replayed under their stored
    /// definitions, without the rules of their contexts.
    ///
    /// Calls `progress` after each machine.
    ///
    /// ```
    /// # async fn example(store: &machine::store::Store) -> Result<(), machine::store::LoadError> {
    /// let report = store.verify_all(|progress| {
    ///     eprintln!("{} of {} entries", progress.entries, progress.total_entries);
    /// }).await?;
    /// for problem in &report.problems {
    ///     eprintln!("{:?}: {}", problem.id, problem.reason);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now. The [`VerifyReport`] has the
    /// problems of the data, and the parts that a damaged file prevented from being verified.
    pub async fn verify_all(
        &self,
        progress: impl FnMut(VerifyProgress),
    ) -> Result<VerifyReport, LoadError> {
        self.verifier().everything(progress).await
    }

    /// Deletes machines that have ended, with their contexts, journals, messages and leases, in
    /// small commits. Each machine is verified first; one that fails is kept and reported. Pruning
    /// also keeps: gates, parents and descendants of a machine that has not ended (except calls of
    /// its earlier visits, once it has taken their outcome, which goes with them, or has let them
    /// go); executions whose call is unanswered, or that are [contradicted](Prune::contradicted);
    /// the newest machine; and the machine with the newest journal entry.
    ///
    /// Keys stay protected: attempts are never deleted, so the action of a pruned execution is not
    /// done again. The digest of each deleted entry stays, so that the chain over the journal can
    /// still be [verified](Self::verify_all). The [operator log](Self::operations) records who
    /// pruned. Sequence numbers are not reused. A SQLite file does not shrink; freed pages are
    /// reused.
    ///
    /// # Errors
    ///
    /// [`Unavailable`] if the storage cannot do it now. Machines deleted until then stay deleted;
    /// call this again for the rest.
    pub async fn prune(&self, prune: &Prune, by: &Human) -> Result<Pruned, Unavailable> {
        let act = self.act.clone().unwrap_or_else(|| Act::new(by, "prune", &[], ""));
        let store = self.acting(act);
        store.log("begun").await?;
        let pruned = store.verifier().prune(prune).await;
        let outcome = match &pruned {
            Ok(pruned) => format!("done: {pruned}"),
            Err(error) => format!("failed: {error}"),
        };
        // What was deleted stays deleted; without this line the log shows that it was interrupted.
        let _ = store.log(&outcome).await;
        pruned
    }
}
