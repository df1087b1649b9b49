//! Why calls, gates and answers are refused.

mod class;
mod effect;
mod state;

pub(crate) use class::class_of;
pub use effect::EffectError;
pub use state::StateError;

use crate::{
    store::{backend::Rejected, error::Unavailable},
    stored::VerifyError,
};

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
        match rejected {
            Rejected::Commit(error) => Self::Commit(error),
            // Only approvals end.
            Rejected::Late { by: id, machine: gate, at } => Self::ApprovalExpired { id, gate, at },
            Rejected::StateLeft { id, parent } => Self::StateLeft { id, parent },
            Rejected::EffectLowered { id, what } => Self::EffectLowered { id, what },
            Rejected::IdentityChanged { id, tool, identity } => {
                Self::IdentityChanged { id, tool, identity }
            }
            Rejected::Ended(id) => Self::Ended { id },
            Rejected::Refused { id, .. } => Self::LeaseLost { id },
            Rejected::OtherMessage { id, correlation } => Self::OtherMessage { id, correlation },
            Rejected::InboxFull { id, queued } => Self::InboxFull { id, queued },
        }
    }
}
