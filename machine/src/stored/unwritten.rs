use std::{fmt, iter};

use serde::de::{DeserializeOwned, value::MapDeserializer};
use serde_json::{Error, Map, Value};

use super::StoredPart;
use crate::journal::TextError;

/// Why generated code could not write the data of a machine.
#[derive(Debug)]
pub struct Unwritten {
    pub(crate) part: StoredPart,
    /// The field, where it is known.
    pub(crate) field: Option<String>,
    /// Without one, the text would be read back as another value.
    pub(crate) source: Option<Error>,
}

impl Unwritten {
    // An `impl From` for an error of `serde_json` would make `map_err(custom)?` ambiguous, also in
    // programs.
    pub(crate) fn into_json(self) -> Error {
        serde::ser::Error::custom(self)
    }

    /// This field, if it is known, has changed.
    pub(super) fn changed(field: Option<&str>) -> Self {
        Self { part: StoredPart::State, field: field.map(str::to_owned), source: None }
    }

    /// There is no text.
    pub(super) fn refused(error: TextError) -> Self {
        Self { field: error.member, ..error.source.into() }
    }

    /// The text cannot be read back, because of this field, if it is known.
    pub(super) fn unread(source: &Error, field: Option<String>) -> Self {
        let reason = format!(
            "{source}; make `Serialize` write what `Deserialize` reads (JSON has no NaN and no infinity)"
        );
        Self { field, ..Self::because(reason) }
    }

    pub(crate) fn because(reason: impl fmt::Display) -> Self {
        <Error as serde::ser::Error>::custom(reason).into()
    }

    pub(super) fn of_context(self) -> Self {
        Self { part: StoredPart::Context, ..self }
    }
}

/// The field whose value cannot be read, if the problem is in one.
pub(super) fn unread_field<T: DeserializeOwned>(text: &str) -> Option<String> {
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
