use rusqlite::{Error, Row, types::ValueRef};

use crate::{id::Id, journal::Digest};

pub(super) fn integer(number: u64) -> rusqlite::Result<i64> {
    i64::try_from(number).map_err(|error| Error::ToSqlConversionFailure(Box::new(error)))
}

/// The value of a column, or why it is invalid: something else changed it. The reason does not
/// quote it.
pub(super) type Column<T> = Result<T, String>;

/// A row by column numbers. Columns have names only for messages.
#[derive(Clone, Copy)]
pub(super) struct Columns<'a, 'statement>(pub(super) &'a Row<'statement>);

/// The content of a column, and its name.
#[derive(Clone, Copy)]
pub(super) struct Cell<'a>(ValueRef<'a>, &'static str);

impl<'a> Columns<'a, '_> {
    pub(super) fn at(self, index: usize, name: &'static str) -> Cell<'a> {
        // The queries of this module select more columns than they read.
        Cell(self.0.get_ref(index).unwrap_or(ValueRef::Null), name)
    }
}

impl<'a> Cell<'a> {
    fn wrong<T>(self, what: &str) -> Column<T> {
        Err(format!("its column `{}` {what}", self.1))
    }

    /// A column that may be null, read by `read` if it is not.
    pub(super) fn optional<T>(self, read: impl FnOnce(Self) -> Column<T>) -> Column<Option<T>> {
        match self.0 {
            ValueRef::Null => Ok(None),
            _ => read(self).map(Some),
        }
    }

    pub(super) fn integer(self) -> Column<i64> {
        match self.0 {
            ValueRef::Integer(number) => Ok(number),
            _ => self.wrong("is not an integer"),
        }
    }

    pub(super) fn count(self) -> Column<u64> {
        u64::try_from(self.integer()?).or_else(|_| self.wrong("is negative"))
    }

    pub(super) fn flag(self) -> Column<bool> {
        match self.integer()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => self.wrong("is neither 0 nor 1"),
        }
    }

    pub(super) fn text(self) -> Column<&'a str> {
        match self.0 {
            ValueRef::Text(bytes) => {
                std::str::from_utf8(bytes).or_else(|_| self.wrong("is not valid UTF-8"))
            }
            _ => self.wrong("is not text"),
        }
    }

    pub(super) fn blob(self) -> Column<&'a [u8]> {
        match self.0 {
            ValueRef::Blob(bytes) => Ok(bytes),
            _ => self.wrong("is not a blob"),
        }
    }

    fn bytes<const N: usize>(self) -> Column<[u8; N]> {
        self.blob()?.try_into().or_else(|_| self.wrong(&format!("does not have {N} bytes")))
    }

    pub(super) fn id(self) -> Column<Id> {
        self.bytes().map(Id::from_bytes)
    }

    pub(super) fn digest(self) -> Column<Digest> {
        self.bytes().map(Digest::from_bytes)
    }
}
