use crate::{
    contract::AnyExecution,
    id::Id,
    store::{
        backend::FoundRow,
        error::{LoadError, Unavailable},
        handle::Store,
        read::observe::Observed,
    },
};

impl Store {
    /// An execution; `None` if it cannot be read.
    pub(crate) async fn readable(&self, id: Id) -> Result<Option<AnyExecution>, Unavailable> {
        LoadError::readable(Box::pin(self.load::<AnyExecution>(id)).await)
    }

    /// Restores an observed machine as an execution.
    pub(crate) async fn execution_of(&self, observed: Observed) -> Result<AnyExecution, LoadError> {
        let Observed { row, head, definition, .. } = observed;
        let found = FoundRow::Row(row, Some(head));
        self.current(self.restore_safely(found, &[definition])?).await
    }

    /// The executions with these ids.
    pub(crate) async fn executions(
        &self,
        ids: Vec<Id>,
    ) -> Result<Vec<Result<AnyExecution, LoadError>>, LoadError> {
        let rows = self.inner.backend.rows(ids).await?;
        let rows: Vec<_> = rows.into_iter().map(|found| (0, found)).collect();
        self.restore_all(rows, |execution| execution).await
    }
}
