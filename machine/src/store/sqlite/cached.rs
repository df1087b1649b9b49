use std::ops::Deref;

use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, Result, Row};

use crate::journal::DigestKey;

/// Statements that the connection keeps prepared.
pub(super) trait Cached {
    fn cached(&self, sql: &str) -> Result<CachedStatement<'_>>;

    /// Runs a statement; returns the number of rows that it changed.
    fn change(&self, sql: &str, values: impl Params) -> Result<usize> {
        self.cached(sql)?.execute(values)
    }

    /// Runs a statement.
    fn run(&self, sql: &str, values: impl Params) -> Result<()> {
        self.change(sql, values).map(drop)
    }

    /// The row that a query selects.
    fn get<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        self.cached(sql)?.query_row(values, read)
    }

    /// The row that a query selects, if there is one.
    fn find<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.get(sql, values, read).optional()
    }

    /// The rows that a query selects.
    fn all<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.cached(sql)?.query_map(values, read)?.collect()
    }
}

impl Cached for Connection {
    fn cached(&self, sql: &str) -> Result<CachedStatement<'_>> {
        self.prepare_cached(sql)
    }
}

/// A connection, with the key of the seals of its rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keyed<'a> {
    pub(super) connection: &'a Connection,
    pub(super) key: &'a DigestKey,
}

impl Deref for Keyed<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}
