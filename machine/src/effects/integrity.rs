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

    /// Verifies the whole history of a machine: replays its journal along the definitions that it
    /// was written under, folds it again, and compares the result with what [`load`](Self::load)
    /// trusts. Compares each outcome that it took with the call that it is of. However long the
    /// history is, a part of it is in memory at a time.
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
    /// `integrity_check`. That check is one read transaction, so the write-ahead log cannot start
    /// again at its beginning meanwhile. Machines of a kind that the program has not declared with
    /// [`OpenOptions::machine`](crate::store::OpenOptions::machine) are replayed along their stored
    /// definitions, but the rules of their contexts are not known.
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
    /// [`LoadError::Unavailable`] if the storage cannot be read now. What is wrong with the data is
    /// in the [`VerifyReport`], and so is what a damaged file kept from being verified.
    pub async fn verify_all(
        &self,
        progress: impl FnMut(VerifyProgress),
    ) -> Result<VerifyReport, LoadError> {
        self.verifier().everything(progress).await
    }

    /// Deletes machines that have ended, with their contexts, journals, messages and leases, in
    /// small commits. Each is verified before; one that fails is kept and reported. Kept are also a
    /// gate or a parent of a machine that has not ended, a descendant of one (apart from calls of
    /// its earlier visits, once it has taken their outcome, which goes with them, or has let them
    /// go), an execution whose call is unanswered or that is [contradicted](Prune::contradicted),
    /// the newest machine, and the machine with the newest journal entry.
    ///
    /// Keys stay protected: attempts are never deleted, so the action of a pruned execution is not
    /// done again. The digest of each deleted entry stays, so that the chain over the journal can
    /// still be [verified](Self::verify_all). Who pruned is in the
    /// [operator log](Self::operations). Sequence numbers are not used again. A SQLite file does
    /// not shrink; freed pages are reused.
    ///
    /// # Errors
    ///
    /// [`Unavailable`] if the storage cannot do it now. What was deleted until then stays deleted;
    /// call it again for the rest.
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
