//! Acts of people, for the operator log.

use std::fmt::Display;

use crate::{
    effects::error::EffectError,
    store::{handle::Store, operation::Act},
    typed::Refused,
};

/// The findings of a person about an execution in doubt.
pub(crate) const CONFIRM_APPLIED: &str = "confirm applied";
pub(crate) const CONFIRM_NOT_APPLIED: &str = "confirm not applied";
pub(crate) const OVERRIDE_NOT_APPLIED: &str = "override not applied";

impl Store {
    /// Logs acts whose result is a refusal, which wrote nothing. A batch writes the lines of acts
    /// that are done.
    pub(crate) async fn log_refusal<T, E: ActError>(
        &self,
        acts: impl IntoIterator<Item = Act, IntoIter: Send>,
        done: Result<T, E>,
    ) -> Result<T, E> {
        let outcome = match &done {
            Err(error) if error.is_refusal() => format!("refused: {error}"),
            _ => return done,
        };
        for act in acts {
            // The caller learns of the refusal in any case.
            let _ = self.acting(act).log(&outcome).await;
        }
        done
    }
}

pub(crate) trait ActError: Display {
    /// Returns whether the operator log keeps it: the act was refused, rather than impossible now.
    fn is_refusal(&self) -> bool;
}

impl ActError for EffectError {
    fn is_refusal(&self) -> bool {
        !matches!(self, Self::Unavailable(_))
    }
}

impl<M, E: ActError> ActError for Refused<M, E> {
    fn is_refusal(&self) -> bool {
        self.reason.is_refusal()
    }
}
