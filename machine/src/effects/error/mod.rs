//! Why calls, gates and answers are refused.

mod class;
mod effect;
mod state;

pub(crate) use class::class_of;
pub use effect::EffectError;
pub use state::StateError;

use crate::{
    store::{
        backend::Rejected,
        error::{CommitError, LoadError, Unavailable},
    },
    stored::VerifyError,
};

impl From<Unavailable> for EffectError {
    fn from(error: Unavailable) -> Self {
        Self::Commit(error.into())
    }
}

impl From<LoadError> for StateError {
    fn from(error: LoadError) -> Self {
        Self::Load(error)
    }
}

impl From<VerifyError> for StateError {
    fn from(error: VerifyError) -> Self {
        Self::Load(error.into())
    }
}

impl From<Unavailable> for StateError {
    fn from(error: Unavailable) -> Self {
        Self::Load(error.into())
    }
}

impl From<Rejected> for EffectError {
    fn from(rejected: Rejected) -> Self {
        Self::Commit(match rejected {
            // Only approvals end.
            Rejected::Late { by: id, machine: gate, at } => {
                return Self::ApprovalExpired { id, gate, at };
            }
            Rejected::StateLeft { id, parent } => return Self::StateLeft { id, parent },
            Rejected::Unmet { by: id, machine } => CommitError::Unmet { id, machine },
            Rejected::EffectLowered { id, what } => return Self::EffectLowered { id, what },
            Rejected::IdentityChanged { id, tool, identity } => {
                return Self::IdentityChanged { id, tool, identity };
            }
            Rejected::Conflict(id) => CommitError::Conflict { id },
            Rejected::NotFound(id) => CommitError::NotFound { id },
            Rejected::AlreadyStored(id) => CommitError::AlreadyStored { id },
            Rejected::AlreadyDone { id, by } => CommitError::AlreadyDone { id, by },
            Rejected::KeyHeld { id, by } => CommitError::KeyHeld { id, by },
            Rejected::KeyReused { id, by } => CommitError::KeyReused { id, by },
            Rejected::UnderWay { id, call } => CommitError::UnderWay { id, call },
            Rejected::OtherAttempt { id, by } => CommitError::OtherAttempt { id, by },
            Rejected::BrokenAttempt { id, reason } => CommitError::BrokenAttempt { id, reason },
            Rejected::Ended(id) => return Self::Ended { id },
            Rejected::NotChild { id, parent } => CommitError::NotChild { id, parent },
            Rejected::Refused { id, .. } => return Self::LeaseLost { id },
            Rejected::OtherMessage { id, correlation } => {
                return Self::OtherMessage { id, correlation };
            }
            Rejected::InboxFull { id, queued } => return Self::InboxFull { id, queued },
        })
    }
}
