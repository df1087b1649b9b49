//! An earlier try of the same batch whose outcome is unknown.

use crate::{
    effects::{batch::item::Item, error::EffectError},
    id::Id,
    journal::StoredState,
    store::{backend::WriteBatch, handle::Store},
};

/// The id of an earlier attempt at the same batch whose outcome is unknown; otherwise a new one.
pub(super) fn commit_id(items: &mut [Item<'_>]) -> i64 {
    let journals = items.iter_mut().map(|item| &*item.journal());
    let mut earlier = journals
        .filter(|journal| !journal.uncommitted().is_empty())
        .map(|journal| journal.stored().commit_id);
    let first = earlier.next().flatten();
    match first {
        Some(id) if earlier.all(|other| other == Some(id)) => id,
        _ => WriteBatch::new_commit_id(),
    }
}

impl Store {
    /// Returns whether an earlier try of a batch that only creates machines has created this one:
    /// its first entries are in the store.
    pub(super) async fn is_created_by(
        &self,
        id: Id,
        positions: &[usize],
        stored: &[StoredState],
        before: &[Option<i64>],
        items: &mut [Item<'_>],
    ) -> Result<bool, EffectError> {
        let only_creates = positions.iter().all(|position| items[*position].is_new());
        let mut all = positions.iter().zip(stored).zip(before);
        let Some(((_, stored), Some(_))) =
            all.find(|((position, _), _)| items[**position].journal().id() == id)
        else {
            return Ok(false);
        };
        let newest = stored.version.saturating_sub(1);
        let lines = self.inner.backend.history(id, newest, 1).await?;
        let line = lines.ok().and_then(|mut lines| lines.pop());
        Ok(only_creates && line.is_some_and(|line| line.digest == stored.head))
    }
}
