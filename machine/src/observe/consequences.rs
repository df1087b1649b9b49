use crate::store::LoadError;
use crate::view::{ConsequenceView, Prompt, View};

/// The executions of a session, for a reasoner. See
/// [`Observer::consequences`](super::Observer::consequences).
#[derive(Debug)]
#[non_exhaustive]
pub struct Consequences {
    /// The readable executions: contradicted and doubtful ones first, then in the order of their
    /// creation.
    pub executions: Vec<View<ConsequenceView>>,
    /// The calls of tools among them that are in doubt, with their arguments; secrets are digests.
    pub in_doubt: Vec<String>,
    /// The errors of unreadable executions. A reasoner that does not know of an execution may
    /// repeat it.
    pub unreadable: Vec<LoadError>,
}

impl Consequences {
    /// As the section of a prompt, which says that there are executions that cannot be read, and
    /// which calls not to repeat.
    #[must_use]
    pub fn prompt(&self) -> Prompt<'_> {
        Prompt {
            in_doubt: &self.in_doubt,
            unreadable: self.unreadable.len(),
            ..Prompt::new(&self.executions)
        }
    }
}
