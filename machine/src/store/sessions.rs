use std::{fmt, str::FromStr};

use serde::Serialize;

use super::{InvalidCursor, Page, Store, Unavailable};
use crate::{clock::Millis, id::shortened};

/// A session in a list, from the rows of its machines alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct SessionLine {
    /// The session. What is not valid UTF-8 is replaced by U+FFFD; only an edit can cause that.
    pub session: String,
    /// The number of its machines.
    pub machines: u64,
    /// When the first of them was created (milliseconds since the Unix epoch).
    pub created_at: Millis,
    /// When the last journal entry of any of them was made (milliseconds since the Unix epoch).
    pub updated_at: Millis,
}

/// A place in the list of [`Store::sessions`]. As text it can be a part of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionCursor {
    /// The number of the newest machine of the last session.
    number: u64,
}

impl fmt::Display for SessionCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number.fmt(f)
    }
}

impl FromStr for SessionCursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<Self, InvalidCursor> {
        let number = text.parse().map_err(|_| InvalidCursor(shortened(text)))?;
        Ok(Self { number })
    }
}

impl Store {
    /// A page of the sessions of all machines: the session with the newest machine first. At most `limit`
    /// of them, and at least one.
    ///
    /// No session is on two pages. One that gets a machine between two pages moves to the front, so it
    /// may be missing on the pages that follow.
    ///
    /// ```
    /// # async fn example(store: &machine::store::Store) -> Result<(), machine::store::Unavailable> {
    /// let page = store.sessions(50, None).await?;
    /// for line in &page.items {
    ///     println!("{}: {} machines", line.session, line.machines);
    /// }
    /// let older = store.sessions(50, page.next).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Unavailable`] if the storage cannot be read now.
    pub async fn sessions(
        &self,
        limit: usize,
        after: Option<SessionCursor>,
    ) -> Result<Page<SessionLine, SessionCursor>, Unavailable> {
        let limit = limit.max(1);
        let before = after.map(|cursor| cursor.number);
        // One more, to know whether there is another page.
        let mut found = self.inner.backend.sessions(before, limit.saturating_add(1)).await?;
        let more = found.len() > limit;
        found.truncate(limit);
        let last = found.last().filter(|_| more);
        let next = last.map(|(number, _)| SessionCursor { number: *number });
        Ok(Page { items: found.into_iter().map(|(_, line)| line).collect(), next })
    }
}
