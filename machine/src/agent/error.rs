use super::TurnRefusal;
use crate::{
    effects::{EffectError, act::ActError},
    store::LoadError,
};

/// Why an act on the agents of a store failed. Nothing was changed, unless the storage returns
/// [`Indeterminate`](crate::store::Unavailable::Indeterminate): then repeat the act with the same
/// ids.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The protocol refuses it.
    #[error(transparent)]
    Refused(#[from] TurnRefusal),
    /// Required rows were not read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The batch was not written.
    #[error(transparent)]
    Commit(#[from] EffectError),
}

impl AgentError {
    /// Returns whether the turn or the agent does not exist.
    pub(super) fn is_unknown(&self) -> bool {
        use TurnRefusal::{UnknownAgent, UnknownTurn};
        matches!(self, Self::Refused(UnknownTurn { .. } | UnknownAgent { .. }))
    }
}

/// As of machines, requests for unknown turns are not logged.
impl ActError for AgentError {
    fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused(_)) && !self.is_unknown()
    }
}
