use rusqlite::{Error, Row, types::ValueRef};

use crate::{id::Id, journal::Digest};

/// A number for an INTEGER column.
pub(super) fn integer(number: u64) -> rusqlite::Result<i64> {
    i64::try_from(number).map_err(|error| Error::ToSqlConversionFailure(Box::new(error)))
}

/// The value of a column, or why it is invalid: something else changed it. The reason does not
/// quote it.
pub(super) type Column<T> = Result<T, String>;

fn wrong<T>(column: &str, what: &str) -> Column<T> {
    Err(format!("its column `{column}` {what}"))
}

/// A row by column numbers. Columns have names only for messages.
#[derive(Clone, Copy)]
pub(super) struct Columns<'a, 'statement>(pub(super) &'a Row<'statement>);

/// The content of a column.
#[derive(Clone, Copy)]
pub(super) struct Cell<'a>(ValueRef<'a>);

impl<'a> Columns<'a, '_> {
    fn cell(self, index: usize) -> Cell<'a> {
        // The queries of this module select more columns than they read.
        Cell(self.0.get_ref(index).unwrap_or(ValueRef::Null))
    }

    pub(super) fn integer(self, index: usize, name: &str) -> Column<i64> {
        self.cell(index).integer(name)
    }

    pub(super) fn count(self, index: usize, name: &str) -> Column<u64> {
        self.cell(index).count(name)
    }

    pub(super) fn flag(self, index: usize, name: &str) -> Column<bool> {
        match self.integer(index, name)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => wrong(name, "is neither 0 nor 1"),
        }
    }

    pub(super) fn text(self, index: usize, name: &str) -> Column<&'a str> {
        self.cell(index).text(name)
    }

    pub(super) fn blob(self, index: usize, name: &str) -> Column<&'a [u8]> {
        self.cell(index).blob(name)
    }

    pub(super) fn id(self, index: usize, name: &str) -> Column<Id> {
        self.cell(index).id(name)
    }

    pub(super) fn digest(self, index: usize, name: &str) -> Column<Digest> {
        self.cell(index).digest(name)
    }

    /// A column that may be null, read by `read` if it is not.
    pub(super) fn optional<T>(
        self,
        index: usize,
        name: &str,
        read: impl FnOnce(Cell<'a>, &str) -> Column<T>,
    ) -> Column<Option<T>> {
        match self.cell(index) {
            Cell(ValueRef::Null) => Ok(None),
            cell => read(cell, name).map(Some),
        }
    }
}

impl<'a> Cell<'a> {
    pub(super) fn integer(self, name: &str) -> Column<i64> {
        match self.0 {
            ValueRef::Integer(number) => Ok(number),
            _ => wrong(name, "is not an integer"),
        }
    }

    pub(super) fn count(self, name: &str) -> Column<u64> {
        let number = self.integer(name)?;
        u64::try_from(number).or_else(|_| wrong(name, "is negative"))
    }

    pub(super) fn text(self, name: &str) -> Column<&'a str> {
        match self.0 {
            ValueRef::Text(bytes) => {
                std::str::from_utf8(bytes).or_else(|_| wrong(name, "is not valid UTF-8"))
            }
            _ => wrong(name, "is not text"),
        }
    }

    fn blob(self, name: &str) -> Column<&'a [u8]> {
        match self.0 {
            ValueRef::Blob(bytes) => Ok(bytes),
            _ => wrong(name, "is not a blob"),
        }
    }

    fn bytes<const N: usize>(self, name: &str) -> Column<[u8; N]> {
        self.blob(name)?.try_into().or_else(|_| wrong(name, &format!("does not have {N} bytes")))
    }

    pub(super) fn id(self, name: &str) -> Column<Id> {
        self.bytes(name).map(Id::from_bytes)
    }

    pub(super) fn digest(self, name: &str) -> Column<Digest> {
        self.bytes(name).map(Digest::from_bytes)
    }
}
