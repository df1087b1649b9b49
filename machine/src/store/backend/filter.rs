use crate::{clock::Millis, definition::Fingerprint, id::Id};

/// Which rows to select. Rows come in the order in which they were created, with `newest_first` in the
/// reverse order, and with `due_by`, whatever `newest_first` says, most overdue first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    pub(crate) machine: Option<String>,
    pub(crate) definition: Option<Fingerprint>,
    pub(crate) status: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) key: Option<String>,
    pub(crate) behind: Option<Id>,
    /// Only those in a terminal state.
    pub(crate) ended: bool,
    pub(crate) due_by: Option<Millis>,
    /// Not changed after this time.
    pub(crate) unchanged_since: Option<Millis>,
    pub(crate) newest_first: bool,
    /// The place of the last row of the previous page: its `due_at` and its number.
    pub(crate) after: Option<(Millis, u64)>,
    pub(crate) limit: usize,
    /// With state, summary, context and newest digest.
    pub(crate) whole: bool,
}
