use crate::{
    contract::AnyExecution,
    id::Id,
    store::{
        error::{LoadError, Unavailable},
        handle::Store,
    },
};

impl Store {
    /// An execution; `None` if it cannot be read.
    pub(crate) async fn readable(&self, id: Id) -> Result<Option<AnyExecution>, Unavailable> {
        LoadError::readable(Box::pin(self.load::<AnyExecution>(id)).await)
    }

    pub(crate) async fn executions(
        &self,
        ids: Vec<Id>,
    ) -> Result<Vec<Result<AnyExecution, LoadError>>, LoadError> {
        let rows = self.inner.backend.rows(ids).await?;
        let rows: Vec<_> = rows.into_iter().map(|found| (0, found)).collect();
        self.restore_all(rows, |execution| execution).await
    }
}
