//! `Debug` of the errors that a program can return from `main`, which prints them so.

use std::fmt;

macro_rules! readable {
    ($($error:path),+ $(,)?) => {
        $(
            impl fmt::Debug for $error {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    machine::text::with_causes(self, f)
                }
            }
        )+
    };
}

#[cfg(feature = "cli")]
readable!(crate::cli::Error, crate::cli::InvalidDuration);

#[cfg(feature = "http")]
readable!(crate::http::InvalidHost, crate::http::InvalidToken);
