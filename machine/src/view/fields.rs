use std::{fmt, marker::PhantomData};

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::Audience;
use crate::{definition, line::Within};

/// The data of a machine that an audience may see, by name: those marked for it in the
/// [`Definition`](crate::definition::Definition).
///
/// Only a view can make one, so hidden data cannot get in.
#[derive(Clone, PartialEq)]
pub struct Fields<A> {
    values: Map<String, Value>,
    audience: PhantomData<A>,
}

impl<A: Audience> Fields<A> {
    pub(super) fn none() -> Self {
        Self { values: Map::new(), audience: PhantomData }
    }

    /// The fields of the data that the marks allow. Data that are not an object have no names, and no marks.
    pub(super) fn of(data: Value, mark: impl Fn(&str) -> definition::Audience) -> Self {
        let Value::Object(mut values) = data else { return Self::none() };
        values.retain(|name, _| mark(name) >= A::LEVEL);
        Self { values, audience: PhantomData }
    }

    /// The value of a field.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// The names and values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Returns whether there are no visible fields.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

impl<A> fmt::Debug for Fields<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(&self.values).finish()
    }
}

/// The longest part of a name or a value that a line shows, in characters after escaping.
const LONGEST: usize = 200;

/// `name: value, ..` on one line. Long values are cut; [`get`](Fields::get) has all of them.
impl<A: Audience> fmt::Display for Fields<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (name, value)) in self.iter().enumerate() {
            let separator = if position == 0 { "" } else { ", " };
            write!(f, "{separator}{}: ", Within(name, LONGEST))?;
            match value {
                Value::String(text) => write!(f, "{}", Within(text, LONGEST))?,
                other => write!(f, "{}", Within(&other.to_string(), LONGEST))?,
            }
        }
        Ok(())
    }
}

impl<A> Serialize for Fields<A> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.values.serialize(serializer)
    }
}
