use super::Row;
use crate::{clock::Millis, definition::Fingerprint, id::Id, stored::CallState};

/// Which rows to select. Rows come in the order in which they were created, with `newest_first` in
/// the reverse order, and with `due_by`, whatever `newest_first` says, most overdue first.
#[derive(Debug, Clone, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a separate condition")]
pub(crate) struct Filter {
    pub(crate) machine: Option<String>,
    pub(crate) definition: Option<Fingerprint>,
    /// In one of these states; without any, in whichever.
    pub(crate) statuses: Vec<String>,
    pub(crate) session: Option<String>,
    pub(crate) key: Option<String>,
    pub(crate) behind: Option<Id>,
    pub(crate) gated: bool,
    /// Only those that are behind a gate, with one of these pairs of their status and that of the
    /// gate. A gate that is not there has the empty one.
    pub(crate) with_gate: Option<Vec<(String, String)>>,
    /// Only those with a call of their current entry that has not ended and is in one of these
    /// states.
    pub(crate) calls: Option<Vec<CallState>>,
    /// With `calls`: the definitions with states that make calls.
    pub(crate) calling: Vec<Fingerprint>,
    /// Only those whose evidence contradicts their end, unless a person has acknowledged that.
    pub(crate) contradicted: bool,
    /// Only those whose id ends with these bytes.
    pub(crate) tail: Option<[u8; 4]>,
    pub(crate) ended: bool,
    /// Only those that are not. Of a kind that workers drive, the others are not even read.
    pub(crate) live: bool,
    pub(crate) due_by: Option<Millis>,
    pub(crate) unchanged_since: Option<Millis>,
    pub(crate) newest_first: bool,
    /// The place of the last row of the previous page: its `due_at` and its number.
    pub(crate) after: Option<(Millis, u64)>,
    pub(crate) limit: usize,
    /// With state, summary, context and newest digest.
    pub(crate) whole: bool,
}

impl Filter {
    /// Checks whether its conditions hold for a row and the status of the machine that it is
    /// behind. Calls, order, place and limit are ignored.
    pub(crate) fn selects(&self, row: &Row, gate: Option<&str>) -> bool {
        let equals = |wanted: &Option<String>, found: Option<&String>| {
            wanted.as_ref().is_none_or(|wanted| found == Some(wanted))
        };
        equals(&self.machine, Some(&row.machine))
            && self.definition.is_none_or(|definition| row.definition == definition)
            && (self.statuses.is_empty() || self.statuses.contains(&row.status))
            && equals(&self.session, row.session.as_ref())
            && equals(&self.key, row.key.as_ref())
            && self.behind.is_none_or(|behind| row.behind == Some(behind))
            && (row.behind.is_some() || !self.gated)
            && self.with_gate.as_ref().is_none_or(|wanted| {
                let has = |(status, of): &(String, String)| {
                    *status == row.status && *of == gate.unwrap_or_default()
                };
                row.behind.is_some() && wanted.iter().any(has)
            })
            && (row.contradicted || !self.contradicted)
            && self.tail.is_none_or(|tail| row.id.bytes().ends_with(&tail))
            && (row.ended || !self.ended)
            && !(row.ended && self.live)
            && self.due_by.is_none_or(|by| row.due_at.is_some_and(|at| at <= by))
            && self.unchanged_since.is_none_or(|since| row.updated_at <= since)
    }
}
