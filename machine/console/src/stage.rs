//! The stages of calls that lists select.

use machine::contract::CallStage;

/// How far a call is that a machine made by entering its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[cfg_attr(feature = "http", derive(serde::Deserialize, utoipa::ToSchema))]
#[cfg_attr(feature = "http", serde(rename_all = "snake_case"))]
pub(crate) enum Stage {
    /// The outcome of the call is unknown.
    #[cfg_attr(feature = "cli", value(name = "in_doubt"))]
    InDoubt,
    /// A person was asked whether the call may begin.
    Asked,
    /// The call may begin, and has not begun.
    Pending,
    /// The call has begun.
    Running,
}

impl From<Stage> for CallStage {
    fn from(stage: Stage) -> Self {
        match stage {
            Stage::InDoubt => Self::InDoubt,
            Stage::Asked => Self::Asked,
            Stage::Pending => Self::Pending,
            Stage::Running => Self::Running,
        }
    }
}
