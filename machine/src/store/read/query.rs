use std::{mem::discriminant, sync::Arc};

use crate::{
    clock::{Millis, millis},
    definition::{Definition, Fingerprint},
    id::Id,
    store::{
        backend::{Filter, FoundRow},
        error::LoadError,
        handle::Store,
        read::{
            cursor::{Cursor, Order},
            load::value_of,
        },
    },
    stored::{StoredPart, normal_session},
};

/// A selection of machines. Without conditions, it selects all machines, in order of creation.
///
/// ```
/// use machine::store::{Query, Store};
///
/// # async fn example(store: &Store) -> Result<(), machine::store::LoadError> {
/// let mut query = Query::new().machine("execution").status("waiting").limit(50);
/// loop {
///     let page = store.list(&query).await?;
///     for line in page.items.iter().flatten() {
///         println!("{} waits since {}", line.id, line.updated_at);
///     }
///     let Some(next) = page.next else { break };
///     query = query.after(next);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Query {
    pub(crate) filter: Filter,
    due: bool,
    unchanged_ms: Option<u64>,
    limit: Option<usize>,
    after: Option<Cursor>,
}

impl Query {
    /// All machines.
    pub fn new() -> Self {
        Self::default()
    }

    /// Of this kind, such as `execution`.
    pub fn machine(mut self, name: impl Into<String>) -> Self {
        self.filter.machine = Some(name.into());
        self
    }

    pub(crate) fn definition(mut self, fingerprint: Fingerprint) -> Self {
        self.filter.definition = Some(fingerprint);
        self
    }

    /// In the state with this name, such as `waiting`.
    pub fn status(mut self, name: impl Into<String>) -> Self {
        self.filter.statuses = vec![name.into()];
        self
    }

    /// In one of the states with these names.
    pub(crate) fn statuses(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.filter.statuses = names.into_iter().collect();
        self
    }

    /// Of this session.
    pub fn session(mut self, session: impl Into<String>) -> Self {
        self.filter.session = Some(normal_session(session.into()));
        self
    }

    /// With this idempotency key, such as all attempts at one action.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.filter.key = Some(key.into());
        self
    }

    /// Machines that wait for this gate.
    pub fn behind(mut self, gate: Id) -> Self {
        self.filter.behind = Some(gate);
        self
    }

    /// Machines that wait for any gate, or have waited for one.
    pub(crate) fn gated(mut self) -> Self {
        self.filter.gated = true;
        self
    }

    /// Machines whose evidence contradicts their end, unless a person has acknowledged that.
    pub(crate) fn contradicted(mut self) -> Self {
        self.filter.contradicted = true;
        self
    }

    /// Machines whose id ends with these bytes.
    pub(crate) fn tail(mut self, tail: [u8; 4]) -> Self {
        self.filter.tail = Some(tail);
        self
    }

    pub(crate) fn live(mut self) -> Self {
        self.filter.live = true;
        self
    }

    /// With a deadline that is due by the store's clock; most overdue first.
    ///
    /// Firing a deadline is a transition: load the machine, call `fire_deadline`, commit. A machine
    /// stays due until the transition is committed, even if a guard refuses it.
    pub fn due(mut self) -> Self {
        self.due = true;
        self
    }

    /// Unchanged for at least this time: compares the clock of the store with the time of the
    /// newest journal entry, which is from the system clock.
    pub fn unchanged_for(mut self, time: std::time::Duration) -> Self {
        self.unchanged_ms = Some(millis(time));
        self
    }

    /// The newest machine first: the reverse of the order in which they were created. A machine
    /// that is created between two pages is on neither. [`due`](Self::due) has its own order.
    pub fn newest_first(mut self) -> Self {
        self.filter.newest_first = true;
        self
    }

    /// At most this many on a page, and at least one; by default 100.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// The first page, oldest first.
    pub(crate) fn without_place(mut self) -> Self {
        self.after = None;
        self.filter.newest_first = false;
        self
    }

    /// Only machines of this kind in this state; `None` if this selects nothing.
    pub(crate) fn in_state(mut self, machine: String, status: String) -> Option<Self> {
        let Filter { machine: kind, statuses, .. } = &mut self.filter;
        let is_selected = kind.as_ref().is_none_or(|kind| *kind == machine)
            && (statuses.is_empty() || statuses.contains(&status));
        (*kind, *statuses) = (Some(machine), vec![status]);
        is_selected.then_some(self)
    }

    pub(crate) fn page_limit(&self) -> usize {
        self.limit.unwrap_or(100).max(1)
    }

    fn conditions(&self, now: Millis) -> Filter {
        let unchanged = |ms| now.saturating_sub(Millis::try_from(ms).unwrap_or(Millis::MAX));
        Filter {
            due_by: self.due.then_some(now),
            unchanged_since: self.unchanged_ms.map(unchanged),
            ..self.filter.clone()
        }
    }

    /// The page after this cursor, which is [`Page::next`] of the previous page. The cursor of a
    /// query with another order is refused.
    pub fn after(mut self, cursor: Cursor) -> Self {
        self.after = Some(cursor);
        self
    }
}

/// A part of what a [`Query`] selects, or of another list.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Page<T, C = Cursor> {
    /// The items found.
    pub items: Vec<T>,
    /// Where the next page begins; `None` after the last one.
    pub next: Option<C>,
}

/// One machine in a list, from its row alone. Not verified: [`Store::load`] does that.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MachineLine {
    /// The machine's identity.
    pub id: Id,
    /// The definition's name, such as `execution`.
    pub machine: String,
    /// The state's name.
    pub status: String,
    /// The session of the machine.
    pub session: Option<String>,
    /// The idempotency key of the machine.
    pub key: Option<String>,
    /// The gate that must be approved before it may run.
    pub behind: Option<Id>,
    /// The number of its journal entries.
    pub version: u64,
    /// When it was created (milliseconds since the Unix epoch).
    pub created_at: Millis,
    /// When its last journal entry was made (milliseconds since the Unix epoch).
    pub updated_at: Millis,
    /// When its next deadline is due, if any (milliseconds since the Unix epoch).
    pub due_at: Option<Millis>,
}

impl Store {
    /// A page of the machines that a query selects. An unreadable row is an error at its position
    /// and does not hide the others.
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now.
    pub async fn list(
        &self,
        query: &Query,
    ) -> Result<Page<Result<MachineLine, LoadError>>, LoadError> {
        let (rows, next) = self.rows(query, false).await?;
        let items = rows.into_iter().map(|(_, found)| {
            let (row, _) = found.row()?;
            Ok(MachineLine {
                id: row.id,
                machine: row.machine,
                status: row.status,
                session: row.session,
                key: row.key,
                behind: row.behind,
                version: row.version,
                created_at: row.created_at,
                updated_at: row.updated_at,
                due_at: row.due_at,
            })
        });
        Ok(Page { items: items.collect(), next })
    }

    /// Returns the machines of `ids` that a query selects, in the same order. Machines that cannot
    /// be read are included, because whether the query selects them is unknown; missing ones are
    /// left out.
    pub(crate) async fn selected(&self, query: &Query, ids: Vec<Id>) -> Result<Vec<Id>, LoadError> {
        let conditions = query.conditions(self.now());
        let rows = self.inner.backend.rows(ids.clone()).await?;
        let is_selected = |found: &FoundRow| match found {
            FoundRow::Row(row, _) => conditions.selects(row, row.gate.as_deref()),
            FoundRow::Broken(_) => true,
            FoundRow::Missing(_) => false,
        };
        let found = ids.into_iter().zip(rows).filter(|(_, found)| is_selected(found));
        Ok(found.map(|(id, _)| id).collect())
    }

    /// The rows of the next page of a query that is read page by page; `None` after the last one.
    pub(crate) async fn next_rows(
        &self,
        next: &mut Option<Query>,
        whole: bool,
    ) -> Result<Option<Vec<(u64, FoundRow)>>, LoadError> {
        let Some(query) = next.take() else { return Ok(None) };
        let (rows, after) = self.rows(&query, whole).await?;
        *next = after.map(|after| query.after(after));
        Ok(Some(rows))
    }

    /// The rows of a page, and where the next page begins.
    pub(crate) async fn rows(
        &self,
        query: &Query,
        whole: bool,
    ) -> Result<(Vec<(u64, FoundRow)>, Option<Cursor>), LoadError> {
        let limit = query.page_limit();
        let mut filter = query.conditions(self.now());
        let order = |due_at: Option<Millis>| match (query.due, query.filter.newest_first) {
            (true, _) => Order::Due(due_at.unwrap_or(Millis::MIN)),
            (false, true) => Order::Newest,
            (false, false) => Order::Oldest,
        };
        filter.after = match query.after {
            Some(cursor) if discriminant(&cursor.order) != discriminant(&order(None)) => {
                return Err(LoadError::OtherOrder { cursor });
            }
            after => after.map(Cursor::place),
        };
        // One more, to know whether there is another page.
        filter.limit = limit.saturating_add(1);
        filter.whole = whole;
        if filter.calls.is_some() {
            let definitions = self.all_definitions().await?;
            let makes_calls =
                |it: &&Arc<Definition>| it.states.iter().any(|state| state.invocation.is_some());
            filter.calling =
                definitions.iter().filter(makes_calls).map(|it| it.fingerprint).collect();
        }
        let mut rows = self.inner.backend.select(filter).await?;
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_| more).map(|(number, found)| {
            let due_at = match found {
                FoundRow::Row(row, _) => row.due_at,
                FoundRow::Broken(broken) => broken.due_at,
                FoundRow::Missing(_) => None,
            };
            Cursor { order: order(due_at), number: *number }
        });
        Ok((rows, next))
    }

    /// The stored data of a machine of any kind as plain JSON: `id`, `machine`, `status`,
    /// `version`, `state` and `context` as JSON, and the times. It is checked like a machine that
    /// is loaded.
    ///
    /// # Errors
    ///
    /// The errors of [`load`](Self::load).
    pub async fn json(&self, id: Id) -> Result<serde_json::Value, LoadError> {
        let (row, head) = self.found(id).await?.row()?;
        let (context, _) = self.intact(&row, head)?;
        Ok(serde_json::json!({
            "id": row.id,
            "machine": row.machine,
            "status": row.status,
            "version": row.version,
            "epoch": row.epoch,
            "session": row.session,
            "created_at": row.created_at,
            "updated_at": row.updated_at,
            "due_at": row.due_at,
            "state": value_of(id, StoredPart::State, &row.state)?,
            "context": value_of(id, StoredPart::Context, &context)?,
        }))
    }
}
