use std::fmt;

use serde::Serialize;

use crate::store::integrity::verify::Problem;

/// The result of [`Store::prune`](crate::store::Store::prune): the deleted machines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Pruned {
    /// The number of machines.
    pub machines: u64,
    /// The number of their journal entries.
    pub entries: u64,
    /// The problems of machines that failed verification. They were kept.
    pub problems: Vec<Problem>,
}

/// The numbers of machines and entries, such as `1 machine with 2 entries`.
impl fmt::Display for Pruned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { machines, entries, .. } = self;
        let s = if *machines == 1 { "" } else { "s" };
        let ies = if *entries == 1 { "y" } else { "ies" };
        write!(f, "{machines} machine{s} with {entries} entr{ies}")
    }
}

#[cfg(test)]
mod tests {
    use super::Pruned;

    #[test]
    fn one_machine_is_singular() {
        let text =
            |machines, entries| Pruned { machines, entries, problems: Vec::new() }.to_string();
        assert_eq!(text(1, 1), "1 machine with 1 entry");
        assert_eq!(text(0, 0), "0 machines with 0 entries");
        assert_eq!(text(2, 9), "2 machines with 9 entries");
    }
}
