//! Text from outside, made safe to show: on a terminal, in a log, in one line of a prompt.

#[cfg(feature = "alloc")]
use core::{error::Error, fmt};

pub use crate::actor::name::is_invisible;
#[cfg(feature = "durable")]
pub use crate::{id::shortened, line::OneLine, shell::shell_word};

/// Writes an error as people read it: its text, and each cause that the text does not quote, on its
/// own line. A program's own error types can have it as their `Debug`, which a `main` with a
/// `Result` prints.
///
/// # Errors
///
/// The errors of the formatter.
#[cfg(feature = "alloc")]
pub fn with_causes<E: Error + 'static>(error: &E, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    crate::debug::write(error, f)
}
