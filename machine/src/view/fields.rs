use std::{collections::BTreeSet, fmt, marker::PhantomData, ops::Deref};

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::Audience;
use crate::{
    contract::CallError,
    definition::{self, Field},
    line::Within,
};

/// The data of a machine that an audience may see, by name: those marked for it in the
/// [`Definition`](crate::definition::Definition).
///
/// Only a view can make one, so hidden data cannot get in.
#[derive(Clone, PartialEq)]
pub struct Fields<A> {
    values: Map<String, Value>,
    /// The names of the fields that hold a [`CallError`].
    errors: BTreeSet<String>,
    hidden: usize,
    audience: PhantomData<A>,
}

impl<A: Audience> Fields<A> {
    pub(super) fn none() -> Self {
        Self { values: Map::new(), errors: BTreeSet::new(), hidden: 0, audience: PhantomData }
    }

    /// The number of fields that this audience does not see.
    #[must_use]
    pub fn hidden(&self) -> usize {
        self.hidden
    }

    /// The fields of the data that the marks allow. Data that are not an object have no names, and
    /// no marks.
    pub(super) fn of(data: Value, mark: impl Fn(&str) -> definition::Audience) -> Self {
        let Value::Object(mut values) = data else { return Self::none() };
        let all = values.len();
        values.retain(|name, _| mark(name) >= A::LEVEL);
        let hidden = all - values.len();
        Self { values, errors: BTreeSet::new(), hidden, audience: PhantomData }
    }

    /// With the declared types, which say how people read a value.
    pub(super) fn declared(mut self, fields: &[Field]) -> Self {
        let errors = fields.iter().filter(|field| is_call_error(&field.ty));
        self.errors = errors.map(|field| field.name.to_string()).collect();
        self
    }
}

impl<A> Deref for Fields<A> {
    type Target = Map<String, Value>;

    fn deref(&self) -> &Self::Target {
        &self.values
    }
}

impl<A> fmt::Debug for Fields<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(&self.values).finish()
    }
}

/// The longest part of a name or a value that a line shows, in characters after escaping.
const LONGEST: usize = 200;

/// `name: value, ..` on one line. A [`CallError`] of a state is shown as its text. Long values are
/// cut; the fields have all of them.
impl<A: Audience> fmt::Display for Fields<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (name, value)) in self.iter().enumerate() {
            let separator = if position == 0 { "" } else { ", " };
            write!(f, "{separator}{}: ", Within(name, LONGEST))?;
            let error = self.errors.contains(name).then(|| reason(value)).flatten();
            match (error, value) {
                (Some(error), _) => write!(f, "{}", Within(&error, LONGEST))?,
                (None, Value::String(text)) => write!(f, "{}", Within(text, LONGEST))?,
                (None, other) => write!(f, "{}", Within(&other.to_string(), LONGEST))?,
            }
        }
        Ok(())
    }
}

/// Checks for `CallError`, also with a path or a type of refusal.
fn is_call_error(ty: &str) -> bool {
    let path = ty.split('<').next().unwrap_or_default();
    path.rsplit("::").next() == Some("CallError")
}

/// A stored [`CallError`] as people read it.
fn reason(value: &Value) -> Option<String> {
    match serde_json::from_value::<CallError<Value>>(value.clone()).ok()? {
        CallError::Refused(Value::String(refusal)) => Some(refusal),
        error => Some(error.to_string()),
    }
}

impl<A> Serialize for Fields<A> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.values.serialize(serializer)
    }
}
