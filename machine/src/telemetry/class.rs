//! The classes of errors, for `error.type`. Texts of errors have names, receipts and what services
//! say; classes have none of it.

use crate::store::{
    error::{CommitError, LoadError, Unavailable},
    inbox::send::SendError,
};

impl CommitError {
    pub(crate) fn class(&self) -> &'static str {
        match self {
            Self::Conflict { .. } => "conflict",
            Self::Incompatible { .. } => "incompatible",
            Self::NotFound { .. } => "not_found",
            Self::AlreadyStored { .. } => "already_stored",
            Self::LeaseLost { .. } => "lease_lost",
            Self::Ended { .. } => "ended",
            Self::NeverStored { .. } => "never_stored",
            Self::OtherStore { .. } => "other_store",
            Self::Twice { .. } => "twice",
            Self::Refused { .. } => "refused",
            Self::Unwritable { .. } => "unwritable",
            Self::Unavailable(error) => error.class(),
            Self::AlreadyDone { .. } => "already_done",
            Self::KeyHeld { .. } => "key_held",
            Self::KeyReused { .. } => "key_reused",
            Self::BrokenAttempt { .. } => "broken_attempt",
            Self::Deferred { .. } => "deferred",
            Self::NeverRuns { .. } => "never_runs",
            Self::NotApproved { .. } => "not_approved",
            Self::OtherMessage { .. } => "other_message",
            Self::Declined { .. } => "declined",
            Self::ApprovalExpired { .. } => "approval_expired",
            Self::GateExpired { .. } => "gate_expired",
            Self::NotDue { .. } => "not_due",
            Self::GateEnded { .. } => "gate_ended",
            Self::GateChanged { .. } => "gate_changed",
            Self::GateDone { .. } => "gate_done",
            Self::OfParent { .. } => "of_parent",
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
            // The source says why it cannot be read.
            Self::Gate { source, .. } | Self::NotResumed { source } => source.class(),
            Self::OtherOutcome { .. } => "other_outcome",
            Self::Fenced { .. } => "fenced",
            Self::Unsettled { source, .. } => source.class(),
            Self::Lock(_) => "lock",
        }
    }
}

impl LoadError {
    pub(crate) fn class(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "not_found",
            Self::Pruned { .. } => "pruned",
            Self::Unreadable(_) => "unreadable",
            Self::BrokenEntry { .. } => "broken_entry",
            Self::UnknownPosition { .. } => "unknown_position",
            Self::OtherOrder { .. } => "other_order",
            Self::OtherState { .. } => "other_state",
            Self::Expired { .. } => "expired",
            Self::Contract { .. } => "contract",
            Self::NotAGate { .. } => "not_a_gate",
            Self::AlreadyDecided { .. } => "already_decided",
            Self::NotRunning { .. } => "not_running",
            Self::InDoubt { .. } => "in_doubt",
            Self::NotAQuestion { .. } => "not_a_question",
            Self::AwaitsReport { .. } => "awaits_report",
            Self::NotInDoubt { .. } => "not_in_doubt",
            Self::AlreadyDone { .. } => "already_done",
            Self::NotParked { source, .. } => source.class(),
            Self::BrokenRow { .. } => "broken_row",
            Self::Lock(_) => "lock",
            Self::Unavailable(error) => error.class(),
        }
    }
}

impl SendError {
    pub(crate) fn class(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "not_found",
            Self::Ended { .. } => "ended",
            Self::OtherMessage { .. } => "other_message",
            Self::NoMessage { .. } => "no_message",
            Self::Unavailable(error) => error.class(),
        }
    }
}

/// The class of an error of any type; `None` if it is not of a store.
pub(crate) fn class_of(error: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    if let Some(error) = error.downcast_ref::<CommitError>() {
        Some(error.class())
    } else if let Some(error) = error.downcast_ref::<LoadError>() {
        Some(error.class())
    } else if let Some(error) = error.downcast_ref::<SendError>() {
        Some(error.class())
    } else {
        error.downcast_ref::<Unavailable>().map(Unavailable::class)
    }
}
