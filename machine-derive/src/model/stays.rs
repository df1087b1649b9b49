use super::Move;

/// How an edge stays in its state: `Stays` of the library, without `Never`.
#[derive(Clone, Copy)]
pub(crate) enum Stays {
    Always,
    ByBranch,
}

impl Move<'_> {
    /// How the edge to this state stays; `None` if it enters.
    pub(crate) fn stays(&self, to: usize) -> Option<Stays> {
        let mut ways = self.leads.iter().filter(|target| target.to == to);
        let first = ways.next()?.stays;
        if ways.all(|target| target.stays == first) {
            first.then_some(Stays::Always)
        } else {
            Some(Stays::ByBranch)
        }
    }
}

impl Stays {
    /// The words in documentation and drawings, which are those of the library.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Always => "stays",
            Self::ByBranch => "may stay",
        }
    }
}
