use super::Tables;
use crate::{
    id::Id,
    store::{
        backend::{AttemptChange, Attempts, SAMPLE},
        write::attempt::{CONTRACTS, KeyAttempt},
    },
};

impl Tables {
    /// Opens an attempt with this token, or changes the newest one of the machine.
    pub(super) fn change_attempt(&mut self, id: Id, change: &AttemptChange, token: u64) {
        let attempts = self.attempts.entry(change.key.clone()).or_default();
        let is_own = |attempt: &&mut KeyAttempt| attempt.by == id && attempt.space == change.space;
        if change.opens {
            attempts.push(change.opened(id, token));
        } else if let Some(newest) = attempts.iter_mut().rfind(is_own) {
            change.change(newest);
        }
    }

    pub(super) fn attempts(&self, which: &Attempts) -> Vec<KeyAttempt> {
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
            Attempts::OfMachine(_) | Attempts::Unanswered | Attempts::All => {
                let wanted = |attempt: &&KeyAttempt| match which {
                    Attempts::OfMachine(id) => attempt.by == *id,
                    Attempts::Unanswered => attempt.worker.is_some(),
                    _ => true,
                };
                let mut found: Vec<_> = self.attempts.values().flatten().filter(wanted).collect();
                found.sort_by_key(|attempt| attempt.token);
                found.into_iter().cloned().collect()
            }
        }
    }
}
