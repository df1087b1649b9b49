use crate::{
    clock::Millis,
    id::Id,
    journal::{Digest, DigestKey},
    store::{
        backend::{AttemptChange, KeyClaim, Rejected, Wants},
        error::CommitError,
    },
    stored::Hold,
};

/// One attempt at what a key protects. Attempts are never deleted, and only `hold`, `worker` and
/// `expires_at` ever change: the state of a key is a fold of its attempts, so that no change of a
/// machine's row can free it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyAttempt {
    pub(crate) key: String,
    /// The space of the key: [`CONTRACTS`], or `machine:` and the name of a user's machine.
    pub(crate) space: String,
    /// The action that the key stands for; a key belongs to one action.
    pub(crate) action: Option<Digest>,
    pub(crate) by: Id,
    /// The fencing token: the sequence number of the journal entry that opened the attempt, so that
    /// it rises from attempt to attempt.
    pub(crate) token: u64,
    pub(crate) hold: Hold,
    /// The worker whose permit is unanswered.
    pub(crate) worker: Option<String>,
    pub(crate) expires_at: Option<Millis>,
}

/// An attempt, and its number in a backend that has one.
#[derive(Debug, Clone)]
pub(crate) struct AttemptRow {
    pub(crate) no: i64,
    pub(crate) attempt: KeyAttempt,
}

/// The space of the keys of execution contracts. No machine of a user can get into it.
pub(crate) const CONTRACTS: &str = "contract";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyState {
    Free,
    Held {
        by: Id,
    },
    /// The action that it protects took effect.
    Applied {
        by: Id,
    },
}

/// The state of a key in its space, apart from the attempts of one machine.
pub(crate) fn key_state(attempts: &[KeyAttempt], space: &str, but: Id) -> KeyState {
    let others = attempts.iter().filter(|attempt| attempt.space == space && attempt.by != but);
    let mut state = KeyState::Free;
    for attempt in others {
        match (attempt.hold, state) {
            (Hold::Applied, _) => return KeyState::Applied { by: attempt.by },
            (Hold::Held, KeyState::Free) => state = KeyState::Held { by: attempt.by },
            _ => {}
        }
    }
    state
}

/// A machine that uses the key for another action, or a user's machine that names a key of another
/// space: the key is not the claimant's. A contract is never refused because of a foreign machine.
pub(crate) fn reused_by(
    attempts: &[KeyAttempt],
    space: &str,
    action: Option<Digest>,
    but: Id,
) -> Option<Id> {
    let foreign = |attempt: &&KeyAttempt| {
        if attempt.space == space { attempt.action != action } else { space != CONTRACTS }
    };
    attempts.iter().filter(|attempt| attempt.by != but).find(foreign).map(|attempt| attempt.by)
}

/// The reason why a key is not as a write requires.
pub(crate) fn refused(claim: &KeyClaim, attempts: &[KeyAttempt], id: Id) -> Option<Rejected> {
    let KeyClaim { key, space, action, wants } = claim;
    if *wants == Wants::NeverUsed {
        let mut used = attempts.iter().filter(|attempt| attempt.space == *space);
        return used.next().map(|_| {
            // The key ends with a digest, which says nothing to people.
            let tool = key.rsplit_once(':').map_or(key.as_str(), |(tool, _)| tool);
            let what = format!("this call of `{}`", tool.replace(':', "."));
            Rejected::EffectLowered { id, what }
        });
    }
    if let Some(by) = reused_by(attempts, space, *action, id) {
        return Some(CommitError::KeyReused { id, by }.into());
    }
    match key_state(attempts, space, id) {
        KeyState::Applied { by } => Some(CommitError::AlreadyDone { id, by }.into()),
        KeyState::Held { by } if *wants == Wants::Free => {
            Some(CommitError::KeyHeld { id, by }.into())
        }
        KeyState::Held { .. } | KeyState::Free => None,
    }
}

impl AttemptChange {
    pub(crate) fn opened(&self, by: Id, token: u64) -> KeyAttempt {
        let Self { key, space, action, hold, worker, expires_at, .. } = self.clone();
        KeyAttempt { key, space, action, by, token, hold, worker, expires_at }
    }

    pub(crate) fn change(&self, attempt: &mut KeyAttempt) {
        attempt.hold = self.hold;
        attempt.worker.clone_from(&self.worker);
        attempt.expires_at = self.expires_at;
    }
}

impl KeyAttempt {
    /// Covers every field, so that an edited attempt is an error and not a free key.
    pub(crate) fn seal(&self, key: &DigestKey) -> Digest {
        key.digest(&[
            self.key.as_bytes(),
            self.space.as_bytes(),
            &[u8::from(self.action.is_some()), u8::from(self.worker.is_some())],
            self.action.as_ref().map_or(&[], |action| action.bytes().as_slice()),
            self.by.to_string().as_bytes(),
            &self.token.to_le_bytes(),
            &[self.hold as u8],
            self.worker.as_deref().unwrap_or_default().as_bytes(),
            &self.expires_at.map_or([0; 9], |at| {
                let mut bytes = [1; 9];
                bytes[1..].copy_from_slice(&at.to_le_bytes());
                bytes
            }),
        ])
    }
}
