use std::collections::HashSet;

use super::{Data, attempts::Claims};
use crate::{
    store::{
        backend::{Applied, Batch, Rejected, Write},
        work::Outcome,
    },
    stored::ToolEffect,
};

impl Data {
    /// The answer to a batch that has succeeded before. One row with its commit id proves that,
    /// because a batch is written as a whole; the other machines may have moved on since, but not
    /// back.
    pub(super) fn succeeded_before(&self, batch: &Batch) -> Option<Applied> {
        let mut is_proved = false;
        let mut last = Vec::with_capacity(batch.writes.len());
        for write in &batch.writes {
            let stored = self.find(write.row.id)?;
            let after = version_after(write)?;
            if stored.row.version < after {
                return None;
            }
            is_proved |= stored.row.commit_id == batch.commit_id && stored.row.version == after;
            last.push(match write.lines.last() {
                Some(line) => self.seq_of(stored, line.number),
                None => self.newest_of(stored),
            });
        }
        let outcomes = vec![Outcome::Done; batch.events.len()];
        is_proved.then_some(Applied { last, outcomes, ..Applied::default() })
    }

    /// Checks all preconditions of a batch before its first write.
    pub(super) fn check(&self, batch: &Batch) -> Result<(), Rejected> {
        let mut ids = HashSet::new();
        for write in &batch.writes {
            self.check_version(write)?;
            // A second write for the same machine cannot find the version that it expects.
            if !ids.insert(write.row.id) {
                return Err(Rejected::Conflict(write.row.id));
            }
        }
        let mut raised = HashSet::new();
        for write in &batch.writes {
            match &write.tool {
                Some(ToolEffect { name, irreversible: true }) => drop(raised.insert(name)),
                Some(ToolEffect { name, .. })
                    if raised.contains(name) || self.tools.contains(name) =>
                {
                    let (id, what) = (write.row.id, format!("the tool `{name}`"));
                    return Err(Rejected::EffectLowered { id, what });
                }
                _ => {}
            }
        }
        let mut claims = Claims::new(&self.attempts);
        for write in &batch.writes {
            claims.check(write)?;
        }
        Ok(())
    }

    fn check_version(&self, write: &Write) -> Result<(), Rejected> {
        let id = write.row.id;
        match (write.expected, self.find(id)) {
            (None, None) => Ok(()),
            (None, Some(_)) => Err(Rejected::AlreadyStored(id)),
            (Some(_), None) => Err(Rejected::NotFound(id)),
            (Some(expected), Some(stored)) if stored.row.version == expected => Ok(()),
            (Some(_), Some(_)) => Err(Rejected::Conflict(id)),
        }
    }
}

fn version_after(write: &Write) -> Option<u64> {
    let lines = u64::try_from(write.lines.len()).ok()?;
    write.expected.unwrap_or(0).checked_add(lines)
}
