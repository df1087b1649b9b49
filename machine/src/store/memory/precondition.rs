use std::collections::{HashMap, HashSet};

use super::{Data, attempts::Claims};
use crate::{
    id::Id,
    store::{
        backend::{Applied, Batch, Condition, Rejected, Write},
        inbox::protocol::Outcome,
        write::tool::Tool,
    },
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

    /// Checks all preconditions of a batch before its first write. Returns what is known of its tools
    /// after it.
    pub(super) fn check(&self, batch: &Batch) -> Result<HashMap<String, Tool>, Rejected> {
        if let Some(rejected) = batch.expired() {
            return Err(rejected);
        }
        for condition in &batch.conditions {
            if let Some(id) = self.broken_by(condition) {
                return Err(Rejected::Conflict(id));
            }
        }
        let mut ids = HashSet::new();
        for write in &batch.writes {
            self.check_version(write)?;
            // A second write for the same machine cannot find the version that it expects.
            if !ids.insert(write.row.id) {
                return Err(Rejected::Conflict(write.row.id));
            }
        }
        let mut tools: HashMap<String, Tool> = HashMap::new();
        for write in &batch.writes {
            let Some(used) = &write.tool else { continue };
            let known = tools.get(&used.name).or_else(|| self.tools.get(&used.name));
            if let Some(after) = Tool::after(known.copied(), used, write.row.id)? {
                tools.insert(used.name.clone(), after);
            }
        }
        let mut claims = Claims::new(&self.attempts);
        for write in &batch.writes {
            claims.check(write)?;
        }
        Ok(tools)
    }

    /// The machine because of which a condition does not hold.
    fn broken_by(&self, condition: &Condition) -> Option<Id> {
        match condition {
            // See `Batch::expired`.
            Condition::Approved { .. } => None,
            Condition::NoNewAnswer { id, key, after } => {
                self.is_answered_after(key, *after).then_some(*id)
            }
            Condition::Version { id, version } => {
                let is_same = self.find(*id).is_some_and(|it| it.row.version == *version);
                (!is_same).then_some(*id)
            }
            Condition::NoOtherChild { parent, machine, status, known } => {
                let mut children = self.children(*parent).into_iter();
                let other = children.find(|child| {
                    child.machine == *machine
                        && child.status == *status
                        && !known.contains(&child.id)
                });
                other.map(|child| child.id)
            }
        }
    }

    /// Checks whether a gate of an execution with this key has an entry after this one.
    fn is_answered_after(&self, key: &str, after: u64) -> bool {
        let actions = self.machines.iter().filter(|it| it.row.key.as_deref() == Some(key));
        let gates = actions.filter_map(|action| self.find(action.row.behind?));
        gates.into_iter().any(|gate| self.newest_of(gate) > after)
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
