/// Whether a transition along an edge stays in its state, as one with the target `Self` does, or
/// enters its target.
///
/// Staying is SCXML's internal transition: it begins no visit and starts no deadline again. Here is
/// what the program can do; what it did is in the entry of the journal, and nothing else decides
/// that.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, crate::ToSchema)]
#[cfg_attr(
    feature = "durable",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum Stays {
    /// It enters the target, which may be the state that it leaves.
    #[default]
    Never,
    /// The target is written `Self`.
    Always,
    /// In some branches of a choice the target is written `Self`, in others it has the name of the
    /// state.
    ByBranch,
}

impl Stays {
    /// The words in drawings; `None` if it enters.
    pub(crate) fn words(self) -> Option<&'static str> {
        match self {
            Self::Never => None,
            Self::Always => Some("stays"),
            Self::ByBranch => Some("may stay"),
        }
    }

    #[cfg(feature = "durable")]
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(crate) fn is_never(&self) -> bool {
        *self == Self::Never
    }
}
