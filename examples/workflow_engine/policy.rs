//! What the engine has to know of the calls of a program beyond the library's `ToolSpec`.

use crate::plan::ProposedCall;

/// What a person has to see, and what must not be done. Both say why.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// Why a person has to see this call before it is made.
    pub concern: fn(&ProposedCall) -> Option<String>,
    /// Why this call must not be made.
    pub violation: fn(&ProposedCall) -> Option<String>,
}

/// The code of a refusal after which the engine makes the same call again.
pub const RETRY: &str = "retry";

/// The code of a refusal that ends the task. One without a code is for a person.
pub const FATAL: &str = "fatal";
