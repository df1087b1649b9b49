use std::process::ExitCode;

/// The result of a command that was carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exit {
    /// The command succeeded: 0.
    Done,
    /// The command succeeded, and found problems in the file: 3.
    Problems,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Problems => 3,
        })
    }
}

/// The exit codes, for help texts.
pub(super) const CODES: &str = "\
Exit codes:
  0  done
  1  refused or failed; nothing was changed, unless the error says what was
  2  wrong usage
  3  done, and found what was changed or cannot be read
  4  unknown or ambiguous id
  5  the file cannot be opened or read now: missing, locked, busy, of another version
  6  done, but the output could not be written";
