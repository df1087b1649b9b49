#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The receipt of a call, or the outcomes of all calls of a set.
    Done,
    /// Why there is no receipt.
    Failed,
    /// The outcome of one call of a set.
    Each,
}

impl Role {
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Each => "each",
        }
    }

    pub(crate) fn items(self) -> usize {
        match self {
            Self::Done | Self::Failed => 1,
            Self::Each => 2,
        }
    }

    pub(crate) fn of(key: &str) -> Option<Self> {
        [Self::Done, Self::Failed, Self::Each].into_iter().find(|role| role.key() == key)
    }
}
