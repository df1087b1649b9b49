//! `Debug` of the errors that a program can return from `main`, which prints them so.

#[cfg(feature = "alloc")]
use alloc::string::{String, ToString};
use core::fmt;
#[cfg(feature = "alloc")]
use core::{any::type_name, error::Error};

/// Writes an error for people: its text. Without an allocator, no error of this library has a
/// cause.
#[cfg(not(feature = "alloc"))]
fn write(error: &impl fmt::Display, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    error.fmt(f)
}

/// Writes an error for people: its text, and each cause that the preceding text does not quote, on
/// its own line. With `{:#?}` the name of the type and the class of the error, as `tracing` has it,
/// come first.
#[cfg(feature = "alloc")]
pub(crate) fn write<E: Error + 'static>(error: &E, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if f.alternate() {
        let name = type_name::<E>();
        let path = name.split('<').next().unwrap_or(name);
        f.write_str(path.rsplit(':').next().unwrap_or(path))?;
        #[cfg(feature = "store")]
        if let Some(class) = crate::effects::error::class_of(error) {
            write!(f, " ({class})")?;
        }
        f.write_str(": ")?;
    }
    let mut text: String = error.to_string();
    f.write_str(&text)?;
    let mut source = error.source();
    while let Some(cause) = source {
        let said = cause.to_string();
        if !text.contains(&said) {
            write!(f, "\n  caused by: {said}")?;
            text = said;
        }
        source = cause.source();
    }
    Ok(())
}

macro_rules! readable {
    ($($error:path),+ $(,)?) => {
        $(
            impl fmt::Debug for $error {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    write(self, f)
                }
            }
        )+
    };
}

readable!(crate::actor::InvalidName, crate::typed::Illegal, crate::typed::UnknownStatus);

#[cfg(feature = "durable")]
readable!(
    crate::contract::InvalidContract,
    crate::contract::Mismatch,
    crate::InvalidText,
    crate::stored::Breach,
    crate::stored::VerifyError,
    crate::view::UnknownLanguage,
);

#[cfg(feature = "store")]
readable!(
    crate::effects::EffectError,
    crate::effects::StateError,
    crate::operate::Error,
    crate::store::BackupError,
    crate::store::CommitError,
    crate::store::InvalidMessage,
    crate::store::LoadError,
    crate::store::SendError,
    crate::store::Unavailable,
);

#[cfg(feature = "store")]
impl<T: crate::contract::Callable> fmt::Debug for crate::effects::PerformError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(self, f)
    }
}

#[cfg(feature = "sqlite")]
readable!(crate::store::OpenError);

#[cfg(feature = "worker")]
readable!(crate::worker::WorkerError);

#[cfg(feature = "agent")]
readable!(crate::agent::AgentError, crate::agent::ConversationError, crate::agent::TurnRefusal);

#[cfg(feature = "tools")]
readable!(crate::tools::MoveError);

#[cfg(all(test, feature = "store"))]
mod tests {
    use alloc::{boxed::Box, format, string::ToString};
    use core::fmt;

    use crate::{Id, effects::EffectError, store::LoadError};

    #[test]
    fn an_error_reads_as_its_text() {
        let id = Id::fresh();
        let error = LoadError::NotFound { id };
        assert_eq!(format!("{error:?}"), error.to_string());
        assert_eq!(format!("{error:#?}"), format!("LoadError (not_found): {error}"));
        // Its text has that of its source already.
        let error = EffectError::Gate { id, source: Box::new(error.into()) };
        assert_eq!(format!("{error:?}"), error.to_string());
    }

    #[test]
    fn an_unquoted_cause_has_its_own_line() {
        #[derive(thiserror::Error)]
        #[error("the order cannot be placed")]
        struct Outer(#[source] LoadError);

        impl fmt::Debug for Outer {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                super::write(self, f)
            }
        }

        let source = LoadError::NotFound { id: Id::fresh() };
        let text = format!("the order cannot be placed\n  caused by: {source}");
        assert_eq!(format!("{:?}", Outer(source)), text);
    }
}
