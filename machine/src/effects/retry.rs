use crate::{effects::error::EffectError, store::error::Unavailable};

const MAX_TRIES: usize = 6;

/// Decides whether a commit is tried again. Commits are idempotent, so retrying an indeterminate
/// one is safe.
#[derive(Debug, Default)]
pub(crate) struct Retry {
    failed: usize,
    /// Also while another process uses the file; each try waits for the busy timeout.
    patient: bool,
    /// The first error that left open whether the commit was written. It stays open until a try
    /// succeeds or is rejected.
    open: Option<Unavailable>,
}

impl Retry {
    /// For evidence, which must not be lost.
    pub(crate) fn patient() -> Self {
        Self { patient: true, ..Self::default() }
    }

    /// `None` if the commit should be tried again after this error, otherwise what to say.
    pub(crate) fn after(&mut self, error: EffectError) -> Option<EffectError> {
        let EffectError::Unavailable(error) = error else { return Some(error) };
        self.failed += 1;
        let is_open = matches!(error, Unavailable::Indeterminate(_));
        let again = self.patient && error.is_busy() || is_open;
        if is_open {
            self.open.get_or_insert(error.clone());
        }
        if again && self.failed < MAX_TRIES {
            return None;
        }
        Some(self.open.take().unwrap_or(error).into())
    }
}
