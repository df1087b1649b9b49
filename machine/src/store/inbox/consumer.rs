//! The position up to which a named consumer has read the journal.

use crate::{
    id::Id,
    store::{
        backend::{Applied, Batch},
        error::Unavailable,
        handle::Store,
        read::subscribe::Position,
    },
};

/// A place in the journal of a generation of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Offset {
    pub(crate) generation: u64,
    pub(crate) sequence: u64,
}

/// A consumer moves on, if it is where the others believe it to be.
#[derive(Debug, Clone)]
pub(crate) struct Advance {
    pub(crate) consumer: String,
    /// `None` if it has read nothing yet.
    pub(crate) expected: Option<Offset>,
    pub(crate) to: Offset,
}

impl Store {
    /// The position up to which a consumer has read; `None` if it has read nothing yet.
    pub(crate) async fn offset(&self, consumer: &str) -> Result<Option<Position>, Unavailable> {
        let offset = self.inner.backend.offset(consumer.to_owned()).await?;
        Ok(offset.map(Position::from))
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
        let commit_id = i64::from_le_bytes(Id::random_bytes());
        let advance = Advance {
            consumer: consumer.to_owned(),
            expected: expected.map(Offset::from),
            to: to.into(),
        };
        let batch = Batch { advance: Some(advance), ..Batch::new(commit_id, self.now()) };
        let applied = self.inner.backend.apply(batch).await?;
        Ok(matches!(applied, Ok(Applied { advanced: true, .. })))
    }
}

impl From<Offset> for Position {
    fn from(Offset { generation, sequence }: Offset) -> Self {
        Self { generation, sequence }
    }
}

impl From<Position> for Offset {
    fn from(Position { generation, sequence }: Position) -> Self {
        Self { generation, sequence }
    }
}
