use std::fmt;

use serde::Serialize;

use super::{
    Release,
    execution::{self, Status},
};
use crate::stored::CallState;

/// How far a call is that a machine made by entering its state. The most urgent stage comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, crate::ToSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallStage {
    /// The outcome of the call is unknown.
    InDoubt,
    /// A person was asked whether the call may begin.
    Asked,
    /// The call may begin, and has not begun.
    Pending,
    /// The call has begun.
    Running,
    /// The call has ended, and the machine has not taken its outcome.
    Ended,
    /// The machine has taken the outcome.
    Taken,
}

impl CallStage {
    pub(crate) const ALL: [Self; 6] =
        [Self::InDoubt, Self::Asked, Self::Pending, Self::Running, Self::Ended, Self::Taken];
}

impl fmt::Display for CallStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::InDoubt => "in doubt",
            Self::Asked => "asked",
            Self::Pending => "not begun",
            Self::Running => "running",
            Self::Ended => "outcome not taken",
            Self::Taken => "taken",
        })
    }
}

impl CallStage {
    /// The stage of a call that has not ended; `None` if its status is not that of such a call.
    pub(crate) fn of(state: &CallState) -> Option<Self> {
        let status: Status = state.status.parse().ok()?;
        match (status, &state.gate) {
            (Status::Pending, Some(gate)) => match Release::between(status, gate.parse().ok())? {
                Release::Deferred => Some(Self::Asked),
                Release::Released | Release::Refused => Some(Self::Pending),
            },
            (Status::Pending, None) => Some(Self::Pending),
            (Status::Waiting, _) if state.in_doubt => Some(Self::InDoubt),
            (Status::Running | Status::Waiting, _) => Some(Self::Running),
            _ => None,
        }
    }

    /// What a store finds of the calls in this stage, if they have not ended.
    pub(crate) fn states(self) -> Vec<CallState> {
        let statuses = || execution::DEFINITION.states.iter().map(|state| state.name.to_string());
        let gates = || [None, Some(String::new())].into_iter().chain(statuses().map(Some));
        let all = statuses().flat_map(|status| {
            gates().flat_map(move |gate| {
                let status = status.clone();
                [false, true].map(|in_doubt| CallState {
                    status: status.clone(),
                    gate: gate.clone(),
                    in_doubt,
                })
            })
        });
        all.filter(|state| Self::of(state) == Some(self)).collect()
    }
}
