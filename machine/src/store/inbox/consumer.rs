//! The position up to which a named consumer has read the journal.

use crate::store::{
    backend::{AppliedBatch, WriteBatch},
    error::Unavailable,
    handle::Store,
    read::subscribe::Position,
};

/// Advances a consumer, if it is at the expected position (compare-and-set).
#[derive(Debug, Clone)]
pub(crate) struct Advance {
    pub(crate) consumer: String,
    /// `None` if it has read nothing yet.
    pub(crate) expected: Option<Position>,
    pub(crate) to: Position,
}

impl Store {
    /// The position up to which a consumer has read; `None` if it has read nothing yet.
    pub(crate) async fn offset(&self, consumer: &str) -> Result<Option<Position>, Unavailable> {
        self.inner.backend.offset(consumer.to_owned()).await
    }

    /// Moves a consumer on, if it is where the caller expects it to be. When this returns `true`, that is
    /// durable, and no other caller gets the same answer for the same step.
    ///
    /// After an error it may have moved or not, and it is unknown which caller has moved it.
    pub(crate) async fn advance_offset(
        &self,
        consumer: &str,
        expected: Option<Position>,
        to: Position,
    ) -> Result<bool, Unavailable> {
        let advance = Advance { consumer: consumer.to_owned(), expected, to };
        let batch = WriteBatch { advance: Some(advance), ..self.new_batch() };
        let applied = self.inner.backend.apply(batch).await?;
        Ok(matches!(applied, Ok(AppliedBatch { advanced: true, .. })))
    }
}
