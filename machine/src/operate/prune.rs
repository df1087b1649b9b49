use super::{Error, Operator};
use crate::store::{Prune, Pruned};

impl Operator<'_> {
    /// Deletes machines that have ended: see [`Store::prune`](crate::store::Store::prune). The
    /// detail is for the operator log.
    ///
    /// # Errors
    ///
    /// [`Error`] if the storage cannot do it now. What was deleted before stays deleted.
    pub async fn prune(&self, prune: &Prune, detail: &str) -> Result<Pruned, Error> {
        Ok(self.act("prune", &[], detail).prune(prune, self.by).await?)
    }
}
