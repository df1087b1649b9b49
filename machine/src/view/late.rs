use super::View;
use crate::{
    clock::Millis,
    contract::{CallFact, Evidence},
    stored::History,
};

/// Evidence from a fenced worker. It changes no state, and it may contradict how the execution was
/// settled, so people should see it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LateEvidence {
    /// When it arrived (milliseconds since the Unix epoch).
    pub at: Millis,
    /// The evidence.
    pub evidence: Evidence,
}

/// The late evidence in a machine's history, oldest first.
#[must_use]
pub fn late_evidence(history: &History) -> Vec<View<LateEvidence>> {
    history
        .entries
        .iter()
        .filter_map(|entry| match CallFact::of(entry)? {
            CallFact::Evidence { evidence, late: true, .. } => {
                Some(View::new(LateEvidence { at: entry.at, evidence }))
            }
            _ => None,
        })
        .collect()
}
