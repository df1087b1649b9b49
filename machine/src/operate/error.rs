use std::{error, fmt};

use crate::{
    effects::{
        act::ActError,
        error::{EffectError, StateError},
    },
    id::Id,
    line::OneLine,
    store::{InvalidMessage, LoadError, SendError, Unavailable},
    typed::Refused,
};

/// The reason why an act failed. Its `Display` is for people: text from the file cannot break out
/// of its line.
pub struct Error {
    kind: ErrorKind,
    text: String,
    source: Option<Box<dyn error::Error + Send + Sync>>,
}

/// The kinds of errors that interfaces tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The machine, or the store, does not allow it.
    Refused,
    /// The request makes no sense.
    Invalid,
    /// The values of an event do not fit it: they can be corrected and sent again.
    Payload,
    /// No machine has this id.
    NotFound,
    /// Nothing has the name of a kind, a state or a session.
    Unknown,
    /// The storage is unavailable.
    Unavailable,
}

impl Error {
    /// The reason in one word.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    pub(super) fn refused(text: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Refused, text: text.into(), source: None }
    }

    pub(super) fn invalid(text: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Invalid, text: text.into(), source: None }
    }

    /// The values of an event do not fit it.
    pub(super) fn payload(text: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Payload, text: text.into(), source: None }
    }

    /// Nothing has this name; the text lists the existing names.
    pub(super) fn unknown(text: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Unknown, text: text.into(), source: None }
    }

    /// Appends a hint on what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.text = format!("{}; {hint}", self.text);
        self
    }

    pub(super) fn after(mut self, done: &[Id]) -> Self {
        if !done.is_empty() {
            let done: Vec<_> = done.iter().map(ToString::to_string).collect();
            self.text = format!("{} (done before: {})", self.text, done.join(", "));
        }
        self
    }

    /// The gate of which a part of the question was not shown.
    #[must_use]
    pub fn not_shown(&self) -> Option<Id> {
        match self.source.as_ref()?.downcast_ref()? {
            EffectError::NotShown { id } => Some(*id),
            _ => None,
        }
    }

    pub(crate) fn of(kind: ErrorKind, error: impl error::Error + Send + Sync + 'static) -> Self {
        let text = OneLine(&error.to_string()).to_string();
        Self { kind, text, source: Some(Box::new(error)) }
    }
}

/// Requests for unknown machines are not logged.
impl ActError for Error {
    fn is_refusal(&self) -> bool {
        matches!(self.kind, ErrorKind::Refused | ErrorKind::Invalid | ErrorKind::Payload)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn error::Error + 'static))
    }
}

impl From<Unavailable> for Error {
    fn from(error: Unavailable) -> Self {
        Self::of(ErrorKind::Unavailable, error)
    }
}

impl From<LoadError> for Error {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Unavailable(error) => error.into(),
            error @ (LoadError::NotFound { .. } | LoadError::Pruned { .. }) => {
                Self::of(ErrorKind::NotFound, error)
            }
            error => Self::of(ErrorKind::Refused, error),
        }
    }
}

impl From<StateError> for Error {
    fn from(error: StateError) -> Self {
        match error {
            StateError::Load(error) => error.into(),
            error => Self::of(ErrorKind::Refused, error),
        }
    }
}

impl From<EffectError> for Error {
    fn from(error: EffectError) -> Self {
        match error {
            EffectError::Unavailable(error) => error.into(),
            error => Self::of(ErrorKind::Refused, error),
        }
    }
}

impl<M: fmt::Debug> From<Refused<M, EffectError>> for Error {
    fn from(refused: Refused<M, EffectError>) -> Self {
        refused.reason.into()
    }
}

impl From<SendError> for Error {
    fn from(error: SendError) -> Self {
        match error {
            SendError::Unavailable(error) => error.into(),
            error @ SendError::NotFound { .. } => Self::of(ErrorKind::NotFound, error),
            error => Self::of(ErrorKind::Refused, error),
        }
    }
}

impl From<InvalidMessage> for Error {
    fn from(error: InvalidMessage) -> Self {
        Self::of(ErrorKind::Invalid, error)
    }
}
