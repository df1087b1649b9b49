use std::collections::{BTreeMap, HashMap};

use super::Data;
use crate::{
    id::Id,
    store::{
        backend::{AttemptChange, Attempts, Rejected, SAMPLE, Write},
        write::attempt::{Attempt, CONTRACTS, refused},
    },
};

/// Checks the claims of a batch, one after the other.
pub(super) struct Claims<'a> {
    stored: &'a BTreeMap<String, Vec<Attempt>>,
    /// The attempts at the keys of the batch, as they are after its writes so far: of two machines
    /// in it only one gets a key.
    changed: HashMap<String, Vec<Attempt>>,
}

impl<'a> Claims<'a> {
    pub(super) fn new(stored: &'a BTreeMap<String, Vec<Attempt>>) -> Self {
        Self { stored, changed: HashMap::new() }
    }

    pub(super) fn check(&mut self, write: &Write) -> Result<(), Rejected> {
        let id = write.row.id;
        if let Some(claim) = &write.claim {
            let attempts = self.of(&claim.key);
            if let Some(rejected) = refused(claim, attempts, id) {
                return Err(rejected);
            }
        }
        let Some(change) = &write.attempt else { return Ok(()) };
        if change.apply(self.of(&change.key), id, 0) {
            return Ok(());
        }
        // Attempts are never deleted, so something else removed it.
        Err(Rejected::BrokenAttempt { id, reason: String::from("there is no attempt at its key") })
    }

    fn of(&mut self, key: &str) -> &mut Vec<Attempt> {
        let stored = || self.stored.get(key).cloned().unwrap_or_default();
        self.changed.entry(key.to_owned()).or_insert_with(stored)
    }
}

impl AttemptChange {
    /// Opens an attempt with this token, or changes the newest one of the machine. Returns false if
    /// the machine has none.
    fn apply(&self, attempts: &mut Vec<Attempt>, id: Id, token: u64) -> bool {
        let Self { opens, key, space, action, hold, worker, expires_at } = self.clone();
        if opens {
            attempts.push(Attempt { key, space, action, by: id, token, hold, worker, expires_at });
            return true;
        }
        let is_own = |attempt: &&mut Attempt| attempt.by == id && attempt.space == space;
        let Some(newest) = attempts.iter_mut().rfind(is_own) else { return false };
        (newest.hold, newest.worker, newest.expires_at) = (hold, worker, expires_at);
        true
    }
}

impl Data {
    pub(super) fn change_attempt(&mut self, id: Id, change: &AttemptChange, token: u64) {
        let attempts = self.attempts.entry(change.key.clone()).or_default();
        change.apply(attempts, id, token);
    }

    pub(super) fn attempts(&self, which: &Attempts) -> Vec<Attempt> {
        match which {
            Attempts::OfKey(key) => self.attempts.get(key).cloned().unwrap_or_default(),
            Attempts::OfTool(tool, after) => {
                let prefix = format!("{tool}:");
                let keys = self.attempts.range(prefix.clone()..);
                let keys = keys.take_while(|(key, _)| key.starts_with(&prefix));
                let mut found: Vec<_> = keys
                    .filter(|(key, _)| !key[prefix.len()..].contains(':'))
                    .flat_map(|(_, attempts)| attempts)
                    .filter(|attempt| attempt.space == CONTRACTS && attempt.token > *after)
                    .collect();
                found.sort_by_key(|attempt| attempt.token);
                let older = found.len().saturating_sub(SAMPLE);
                found.into_iter().skip(older).cloned().collect()
            }
            Attempts::Unanswered | Attempts::All => {
                let wanted =
                    |attempt: &&Attempt| matches!(which, Attempts::All) || is_unanswered(attempt);
                let mut found: Vec<_> = self.attempts.values().flatten().filter(wanted).collect();
                found.sort_by_key(|attempt| attempt.token);
                found.into_iter().cloned().collect()
            }
        }
    }
}

fn is_unanswered(attempt: &Attempt) -> bool {
    attempt.worker.is_some()
}
