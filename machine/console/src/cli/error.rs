use std::{error, fmt, io, process::ExitCode};

use machine::{
    operate,
    store::{BackupError, LoadError, OpenError, Unavailable},
    text::OneLine,
};

/// Why a command was not carried out. Its `Display` is for people: text from the file cannot break
/// out of its line.
pub struct Error {
    code: Code,
    text: String,
    source: Option<Box<dyn error::Error + Send + Sync>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    /// The reader closed the output; not an error.
    Closed = 0,
    Refused = 1,
    Usage = 2,
    Id = 4,
    File = 5,
    Untold = 6,
}

impl Error {
    /// The exit code: 1 refused or failed, 2 wrong usage, 4 unknown or ambiguous id, 5 the file
    /// cannot be opened or read now, 6 done, but the output could not be written.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        self.code as u8
    }

    /// Refused, and nothing was changed.
    pub(super) fn refused(text: impl Into<String>) -> Self {
        Self { code: Code::Refused, text: text.into(), source: None }
    }

    /// The options do not fit together.
    pub(super) fn usage(text: impl Into<String>) -> Self {
        Self { code: Code::Usage, text: text.into(), source: None }
    }

    /// No machine has this id, or several have.
    pub(super) fn id(text: impl Into<String>) -> Self {
        Self { code: Code::Id, text: text.into(), source: None }
    }

    /// The output could not be written after something was done, which stays done.
    pub(super) fn after_act(self) -> Self {
        if self.is_closed() {
            return self;
        }
        let text = format!("it is done, but the output could not be written: {}", self.text);
        Self { code: Code::Untold, text, ..self }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.code == Code::Closed
    }

    pub(super) fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.text = format!("{}; {hint}", self.text);
        self
    }

    /// The same, with a text made of its own.
    pub(super) fn with_text(self, text: impl FnOnce(&str) -> String) -> Self {
        Self { text: text(&self.text), ..self }
    }

    /// The same, with the place that is wrong.
    #[cfg(feature = "http")]
    pub(super) fn at(mut self, place: impl fmt::Display) -> Self {
        self.text = format!("{place}: {}", self.text);
        self
    }

    fn of(code: Code, error: impl error::Error + Send + Sync + 'static) -> Self {
        let text = OneLine(&error.to_string()).to_string();
        Self { code, text, source: Some(Box::new(error)) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.source.as_deref().and_then(error::Error::source)
    }
}

impl From<Error> for ExitCode {
    fn from(error: Error) -> Self {
        Self::from(error.exit_code())
    }
}

impl From<OpenError> for Error {
    fn from(error: OpenError) -> Self {
        // Its report has several lines.
        let text = error.to_string();
        let lines: Vec<_> = text.lines().map(|line| OneLine(line).to_string()).collect();
        Self { text: lines.join("\n"), ..Self::of(Code::File, error) }
    }
}

impl From<Unavailable> for Error {
    fn from(error: Unavailable) -> Self {
        Self::of(Code::File, error)
    }
}

impl From<LoadError> for Error {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Unavailable(error) => error.into(),
            error @ (LoadError::NotFound { .. } | LoadError::Pruned { .. }) => {
                Self::of(Code::Id, error)
            }
            error => Self::of(Code::Refused, error),
        }
    }
}

impl From<operate::Error> for Error {
    fn from(error: operate::Error) -> Self {
        let code = match error.kind() {
            operate::ErrorKind::Refused | operate::ErrorKind::Payload => Code::Refused,
            operate::ErrorKind::Invalid | operate::ErrorKind::Unknown => Code::Usage,
            operate::ErrorKind::NotFound => Code::Id,
            operate::ErrorKind::Unavailable => Code::File,
        };
        Self::of(code, error)
    }
}

impl From<BackupError> for Error {
    fn from(error: BackupError) -> Self {
        match error {
            BackupError::Unavailable(error) => error.into(),
            error => Self::of(Code::Refused, error),
        }
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::of(Code::Refused, error)
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        let is_closed = error.kind() == io::ErrorKind::BrokenPipe;
        Self::of(if is_closed { Code::Closed } else { Code::Refused }, error)
    }
}
