//! Commits, and the end of a store.

use crate::{
    effects::{batch::Batch, error::EffectError},
    store::{error::Unavailable, handle::Store},
    stored::Durable,
};

impl Store {
    /// Stores a new machine with its whole journal.
    ///
    /// # Errors
    ///
    /// [`AlreadyDone`](crate::store::CommitError::AlreadyDone) if the machine would repeat a
    /// completed irreversible action, [`KeyReused`](crate::store::CommitError::KeyReused) if its
    /// key belongs to another action, [`EffectError::EffectLowered`] if its tool is irreversible in
    /// this store and the machine says otherwise, [`EffectError::OtherIdentity`] and
    /// [`EffectError::IdentityChanged`] if this program derives other keys for the tool than an
    /// earlier program, [`EffectError::Imported`] if the machine was read from data and could run
    /// here, and those of [`commit`](Self::commit). The machine is unchanged.
    pub async fn create<M: Durable>(&self, machine: &mut M) -> Result<(), EffectError> {
        self.batch().create(machine).write().await
    }

    /// Writes all changes of the machine since it was loaded or last committed. When this returns,
    /// they are durable.
    ///
    /// # Errors
    ///
    /// [`Conflict`](crate::store::CommitError::Conflict) if another commit changed the machine in
    /// the meantime. [`Refused`](crate::store::CommitError::Refused) if the rules of the machine's
    /// context forbid it. [`EffectError::Unavailable`] if the storage cannot do it now. The machine
    /// is unchanged, so that the commit can be retried.
    pub async fn commit<M: Durable>(&self, machine: &mut M) -> Result<(), EffectError> {
        self.batch().commit(machine).write().await
    }

    /// Starts a batch of writes, which happen all or not at all.
    pub fn batch(&self) -> Batch<'_> {
        Batch::new(self)
    }

    /// Completes queued work, writes the answers of calls that arrived, and closes the store and
    /// its clones. After that, the file is complete and can be copied, if no other process uses it.
    ///
    /// # Errors
    ///
    /// [`Unavailable`] if the file could not be written completely. Committed data are safe: they
    /// are in the write-ahead log next to the file.
    pub async fn close(&self) -> Result<(), Unavailable> {
        let mut unwritten = Ok(());
        for id in self.effects().calls.with_unwritten() {
            // A call whose answer cannot be written keeps its lock, so that it is not taken for one
            // without an answer.
            unwritten = unwritten.and(self.write_answers(id).await);
        }
        let closed = self.inner.backend.close().await;
        // Subscriptions that wait learn that nothing more will come.
        if let Some(commits) = self.inner.commits.get() {
            commits.notify(usize::MAX);
        }
        match unwritten {
            Err(EffectError::Unavailable(error)) => Err(error),
            Err(error) => Err(Unavailable::other(error)),
            Ok(()) => closed,
        }
    }
}
