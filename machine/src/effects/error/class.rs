//! The classes of errors, for telemetry.

use super::{EffectError, StateError};
use crate::store::{
    error::{CommitError, LoadError, Unavailable},
    inbox::send::SendError,
};

/// The class of an error of any type; `None` if it is not of a store.
pub(crate) fn class_of(error: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    if let Some(error) = error.downcast_ref::<EffectError>() {
        Some(error.class())
    } else if let Some(error) = error.downcast_ref::<StateError>() {
        Some(error.class())
    } else if let Some(error) = error.downcast_ref::<CommitError>() {
        Some(error.class())
    } else if let Some(error) = error.downcast_ref::<LoadError>() {
        Some(error.class())
    } else if let Some(error) = error.downcast_ref::<SendError>() {
        Some(error.class())
    } else {
        error.downcast_ref::<Unavailable>().map(Unavailable::class)
    }
}

impl EffectError {
    pub(crate) fn class(&self) -> &'static str {
        match self {
            Self::Commit(error) => error.class(),
            Self::Twice { .. } => "twice",
            Self::LeaseLost { .. } => "lease_lost",
            Self::OtherMessage { .. } => "other_message",
            Self::InboxFull { .. } => "inbox_full",
            Self::Ended { .. } => "ended",
            Self::Deferred { .. } => "deferred",
            Self::NeverRuns { .. } => "never_runs",
            Self::StateLeft { .. } => "state_left",
            Self::NotApproved { .. } => "not_approved",
            Self::Declined { .. } => "declined",
            Self::ApprovalExpired { .. } => "approval_expired",
            Self::GateExpired { .. } => "gate_expired",
            Self::NotDue { .. } => "not_due",
            Self::GateEnded { .. } => "gate_ended",
            Self::GateChanged { .. } => "gate_changed",
            Self::GateDone { .. } => "gate_done",
            Self::OfParent { .. } => "of_parent",
            Self::CallByHand { .. } => "call_by_hand",
            Self::NotShown { .. } => "not_shown",
            Self::Unanswered { .. } => "unanswered",
            Self::AlreadyDecided { .. } => "already_decided",
            Self::WorkerAlive { .. } => "worker_alive",
            Self::CutOff { .. } => "cut_off",
            Self::WorkerUnknown { .. } => "worker_unknown",
            Self::NotSettled { .. } => "not_settled",
            Self::NotInterrupted { .. } => "not_interrupted",
            Self::EffectLowered { .. } => "effect_lowered",
            Self::IdentityChanged { .. } => "identity_changed",
            Self::OtherIdentity { .. } => "other_identity",
            Self::Imported { .. } => "imported",
            Self::Contract { .. } => "contract",
            Self::OtherAction { .. } => "other_action",
            Self::OtherOutcome { .. } => "other_outcome",
            Self::Fenced { .. } => "fenced",
            Self::Unsettled { source, .. } => source.class(),
            Self::Lock(_) => "lock",
            // The source says why it cannot be read.
            Self::Gate { source, .. } | Self::NotResumed { source } => source.class(),
        }
    }
}
