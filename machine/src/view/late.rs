use crate::{
    clock::Millis,
    erased::Durable,
    journal::{Evidence, Fact},
};

/// Evidence from a worker that had been shut out: it came too late to count, and it may well
/// contradict what was settled. People should see it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LateEvidence {
    /// When it came (milliseconds since the Unix epoch).
    pub at: Millis,
    /// What it says.
    pub evidence: Evidence,
}

/// The late evidence on a machine, oldest first.
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
