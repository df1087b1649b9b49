use std::{fmt, str::FromStr};

use crate::{
    clock::Millis,
    id::{InvalidText, shortened},
};

/// A place in the result of a [`Query`](crate::store::Query). A cursor stays valid while machines
/// are created and changed, for queries with the same order. As text, such as `oldest.42`, it can
/// be a part of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    pub(crate) order: Order,
    /// The number of the last machine of the page.
    pub(crate) number: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Oldest,
    Newest,
    /// Most overdue first. With the deadline of the last machine of the page.
    Due(Millis),
}

impl Cursor {
    /// As the storage takes it. Only the order by deadlines has a time.
    pub(crate) fn place(self) -> (Millis, u64) {
        match self.order {
            Order::Due(at) => (at, self.number),
            Order::Oldest | Order::Newest => (Millis::MIN, self.number),
        }
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.order {
            Order::Oldest => write!(f, "oldest.{}", self.number),
            Order::Newest => write!(f, "newest.{}", self.number),
            Order::Due(at) => write!(f, "due.{at}.{}", self.number),
        }
    }
}

pub(crate) fn not_a_cursor(text: &str) -> InvalidText {
    InvalidText(format!(
        "`{}` is not a cursor of this list; use the cursor of the previous page, or none for the \
         first page",
        shortened(text)
    ))
}

/// Two numbers, such as `1.42`. A number has other spellings, such as `+1`; a place has one.
pub(super) fn pair(text: &str) -> Option<(u64, u64)> {
    let (first, second) = text.split_once('.')?;
    let pair: (u64, u64) = (first.parse().ok()?, second.parse().ok()?);
    (format!("{}.{}", pair.0, pair.1) == text).then_some(pair)
}

impl FromStr for Cursor {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        let read = || {
            let (order, place) = text.split_once('.')?;
            let (order, number) = match order {
                "oldest" => (Order::Oldest, place),
                "newest" => (Order::Newest, place),
                "due" => {
                    let (at, number) = place.split_once('.')?;
                    (Order::Due(at.parse().ok()?), number)
                }
                _ => return None,
            };
            let cursor = Self { order, number: number.parse().ok()? };
            // A number has other spellings, such as `+1`; a cursor has one.
            (cursor.to_string() == text).then_some(cursor)
        };
        read().ok_or_else(|| not_a_cursor(text))
    }
}
