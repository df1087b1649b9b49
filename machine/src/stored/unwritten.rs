use std::{fmt, iter};

use serde::de::{DeserializeOwned, value::MapDeserializer};
use serde_json::{Error, Map, Value};

use super::StoredPart;

/// Why generated code could not write the data of a machine.
#[doc(hidden)]
#[derive(Debug)]
pub struct Unwritten {
    pub(crate) part: StoredPart,
    /// The field of the state, where it is known.
    pub(crate) field: Option<String>,
    /// Without one, the text would be read back as another value.
    pub(crate) source: Option<Error>,
}

impl Unwritten {
    // An `impl From` for an error of `serde_json` would make `map_err(custom)?` ambiguous, also in programs.
    pub(crate) fn into_json(self) -> Error {
        serde::ser::Error::custom(self)
    }

    /// A field of the state has changed.
    pub(super) fn changed(field: &str) -> Self {
        Self { part: StoredPart::State, field: Some(field.to_owned()), source: None }
    }

    /// The text of the state cannot be read back.
    pub(super) fn unread<T: DeserializeOwned>(text: &str, source: Error) -> Self {
        Self { field: unread_field::<T>(text), ..source.into() }
    }

    pub(super) fn of_context(source: Option<Error>) -> Self {
        Self { part: StoredPart::Context, field: None, source }
    }
}

/// The field whose value cannot be read, if the problem is in one.
fn unread_field<T: DeserializeOwned>(text: &str) -> Option<String> {
    let mut fields = serde_json::from_str::<Map<String, Value>>(text).ok()?.into_iter();
    let mut last = None;
    let entries = iter::from_fn(|| {
        let next = fields.next();
        last = next.as_ref().map(|(name, _)| name.clone());
        next
    });
    T::deserialize(MapDeserializer::<_, Error>::new(entries)).err()?;
    last
}

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            Some(field) => write!(f, "`{field}` of {}: ", self.part)?,
            None => write!(f, "{}: ", self.part)?,
        }
        match &self.source {
            Some(source) => source.fmt(f),
            None => f.write_str("it would be read back as another value"),
        }
    }
}

/// The context has its error where it is written; every other one is of the state.
impl From<Error> for Unwritten {
    fn from(source: Error) -> Self {
        Self { part: StoredPart::State, field: None, source: Some(source) }
    }
}
