use std::{fmt, str::FromStr};

use serde::Serialize;

use crate::{
    clock::Millis,
    id::InvalidText,
    store::{
        error::Unavailable,
        handle::Store,
        read::{
            cursor::{not_a_cursor, pair},
            query::Page,
        },
    },
};

/// A session in a list, from the rows of its machines alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, crate::ToSchema)]
#[non_exhaustive]
pub struct SessionLine {
    /// The session. Invalid UTF-8 is replaced by U+FFFD; only an edit by hand can cause that.
    pub session: String,
    /// The number of its machines.
    pub machines: u64,
    /// When the first of them was created (milliseconds since the Unix epoch).
    pub created_at: Millis,
    /// When the last journal entry of any of them was made (milliseconds since the Unix epoch).
    pub updated_at: Millis,
}

/// A place in the list of [`Store::sessions`]. As text, such as `100.42`, it can be a part of a
/// URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionCursor {
    /// The number of the newest machine when the first page began: later machines are left out.
    pub(crate) upto: u64,
    /// The number of the newest machine of the last session of the page, of those up to there.
    pub(crate) number: u64,
}

impl fmt::Display for SessionCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.upto, self.number)
    }
}

impl FromStr for SessionCursor {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        let (upto, number) = pair(text).ok_or_else(|| not_a_cursor(text))?;
        Ok(Self { upto, number })
    }
}

impl Store {
    /// A page of the sessions of all machines: the session with the newest machine first. At most
    /// `limit` of them, and at least one.
    ///
    /// Each session is on exactly one page, even if machines are created meanwhile: the sessions
    /// and their order are fixed when the first page is read. The data of each session are current.
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
        // One more, to know whether there is another page.
        let mut found = self.inner.backend.sessions(after, limit.saturating_add(1)).await?;
        let more = found.len() > limit;
        found.truncate(limit);
        let upto = after.map(|cursor| cursor.upto).or(found.first().map(|(newest, _)| *newest));
        let last = found.last().filter(|_| more).map(|(number, _)| *number);
        let next = upto.zip(last).map(|(upto, number)| SessionCursor { upto, number });
        Ok(Page { items: found.into_iter().map(|(_, line)| line).collect(), next })
    }
}
