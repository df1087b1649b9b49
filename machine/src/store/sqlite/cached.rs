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

    fn run(&self, sql: &str, values: impl Params) -> Result<()> {
        self.change(sql, values).map(drop)
    }

    fn get<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        self.cached(sql)?.query_row(values, read)
    }

    fn find<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.get(sql, values, read).optional()
    }

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
