use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};

use super::wording::Heading;
use crate::{id::Id, journal::Digest};

/// The approval that a gate asks a person for: one execution, of one exact action.
///
/// It cannot be read from data: a store reads it as a part of its contract, through the contract's
/// checks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ApprovalRequest {
    pub(super) gate: Id,
    pub(super) execution: Id,
    pub(super) action: Digest,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) expires_after_ms: Option<u64>,
    pub(super) heading: Heading,
}

pub(super) fn read_approval<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<ApprovalRequest>, D::Error> {
    #[derive(Deserialize)]
    struct WrittenApproval {
        gate: Id,
        execution: Id,
        action: Digest,
        expires_after_ms: Option<u64>,
        heading: Heading,
    }
    let written = Option::<WrittenApproval>::deserialize(deserializer)?;
    Ok(written.map(|WrittenApproval { gate, execution, action, expires_after_ms, heading }| {
        ApprovalRequest { gate, execution, action, expires_after_ms, heading }
    }))
}

impl ApprovalRequest {
    /// The execution that may run if it is approved.
    #[must_use]
    pub fn execution(&self) -> Id {
        self.execution
    }

    /// The digest of its action.
    #[must_use]
    pub fn action(&self) -> Digest {
        self.action
    }

    /// The time after the question within which the approval can be given and used; `None` means
    /// without a limit.
    pub(super) fn expires_after(&self) -> Option<Duration> {
        self.expires_after_ms.map(Duration::from_millis)
    }
}
