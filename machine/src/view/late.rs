use crate::{
    clock::Millis,
    erased::Durable,
    journal::{Evidence, Fact},
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

/// The late evidence in a machine's journal, oldest first.
#[must_use]
pub fn late_evidence(machine: &dyn Durable) -> Vec<LateEvidence> {
    let entries = machine.journal().entries().iter();
    entries
        .filter_map(|entry| match &entry.fact {
            Fact::Evidence { evidence, late: true, .. } => {
                Some(LateEvidence { at: entry.at, evidence: evidence.clone() })
            }
            _ => None,
        })
        .collect()
}
