/// What the row of a call says of it, as long as it has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallState {
    pub(crate) status: String,
    /// The name of the state of its gate, empty if that is missing; `None` if it has no gate.
    pub(crate) gate: Option<String>,
    /// Its folded progress has the verdict [`IN_DOUBT`](Self::IN_DOUBT).
    pub(crate) in_doubt: bool,
}

impl CallState {
    /// The member of its folded progress that has the verdict, and the verdict of a call whose
    /// effect is unknown.
    pub(crate) const IN_DOUBT: (&str, &str) = ("verdict", "unknown");
}
