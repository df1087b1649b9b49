//! Executions whose action another execution has performed or may be performing.

use std::fmt;

use crate::{
    actor::Category,
    clock::{Millis, length, millis_between},
    contract::{AnyExecution, Progress},
    effects::error::{EffectError, StateError},
    id::Id,
    store::{
        backend::{Attempts, Broken},
        error::{CommitError, LoadError},
        handle::Store,
        read::load::history,
        write::attempt::{CONTRACTS, KeyState, key_state},
    },
    stored::{Durable, Index},
};

/// The execution that has done what an idempotency key protects. Its `Display` is a clause for
/// people, without data of the action.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Done {
    /// The execution.
    pub by: Id,
    /// When it ended, or when the receipt arrived (milliseconds since the Unix epoch); `None` if
    /// the execution was pruned or cannot be read, like the rest.
    pub at: Option<Millis>,
    /// The category of the actor of its last transition.
    pub actor: Option<Category>,
    /// The name of the person who approved it.
    pub approved_by: Option<String>,
    /// The time since `at`, in milliseconds.
    ago_ms: u64,
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has already performed the same action", self.by)?;
        if self.at.is_some() {
            write!(f, " {} ago", length(self.ago_ms))?;
        }
        if let Some(actor) = self.actor {
            write!(f, " (recorded by: {actor}")?;
            if let Some(person) = &self.approved_by {
                write!(f, "; approved by {person}")?;
            }
            f.write_str(")")?;
        }
        Ok(())
    }
}

impl Store {
    /// Refuses to resume a machine if another execution has done what it is for: its own action or,
    /// of a gate, the action behind it.
    pub(super) async fn not_done(&self, id: Id, index: &Index) -> Result<(), StateError> {
        let key = match (&index.approves, &index.key) {
            (Some(approves), _) => match self.load::<AnyExecution>(approves.execution).await {
                Ok(action) => self.key_for(&action).await?,
                // It was stored without the action, so it lets nothing run.
                Err(LoadError::NotFound { .. }) => KeyState::Free,
                Err(error) => return Err(error.into()),
            },
            (None, Some(key)) if index.exclusive && index.contract => {
                self.key_but(id, key.clone()).await?
            }
            (None, _) => KeyState::Free,
        };
        match key {
            KeyState::Applied { by } => {
                Err(StateError::AlreadyDone { id, done: self.done(by).await? })
            }
            KeyState::Held { .. } | KeyState::Free => Ok(()),
        }
    }

    /// The state of the key that an execution needs, apart from its own attempts.
    pub(super) async fn key_for(&self, execution: &AnyExecution) -> Result<KeyState, LoadError> {
        let contract = execution.context();
        match contract.idempotency_key() {
            Some(key) if contract.is_irreversible() => {
                self.key_but(execution.id(), key.to_string()).await
            }
            _ => Ok(KeyState::Free),
        }
    }

    async fn key_but(&self, id: Id, key: String) -> Result<KeyState, LoadError> {
        let attempts = self.inner.backend.attempts(Attempts::OfKey(key)).await?;
        let attempts: Result<Vec<_>, Broken> = attempts.into_iter().collect();
        let attempts = attempts.map_err(|broken| history(id, broken.reason))?;
        Ok(key_state(&attempts, CONTRACTS, id))
    }

    /// Describes how an execution completed the action that its key protects.
    pub(super) async fn done(&self, by: Id) -> Result<Done, LoadError> {
        let unknown = Done { by, at: None, actor: None, approved_by: None, ago_ms: 0 };
        let Some(execution) = self.readable(by).await? else { return Ok(unknown) };
        let past = execution.journal().past();
        let at = match execution {
            AnyExecution::Completed(_) => past.entered_at,
            _ => past.updated_at,
        };
        let category = |kind| execution.definition().category(kind);
        Ok(Done {
            at: Some(at),
            actor: past.last_actor.as_deref().map(category),
            approved_by: Progress::of(&execution).approved_by,
            ago_ms: millis_between(at, self.now()),
            ..unknown
        })
    }

    /// Why the answer to a gate may come to nothing: another execution holds the key of its action.
    pub(super) async fn caution(&self, key: KeyState) -> Result<Option<String>, LoadError> {
        let KeyState::Held { by } = key else { return Ok(None) };
        let holder = self.readable(by).await?;
        let is_in_doubt = holder.is_some_and(|holder| Progress::of(&holder).is_in_doubt());
        Ok(Some(if is_in_doubt {
            format!(
                "{by} attempted the same action and is in doubt: if it took effect, this one never runs; confirm {by} \
                 first"
            )
        } else {
            format!(
                "{by} is performing the same action now: if it takes effect, this one never runs"
            )
        }))
    }
}

/// A key that cannot be read is not free.
pub(crate) fn not_trusted(id: Id, error: LoadError) -> EffectError {
    match error {
        LoadError::Unavailable(error) => error.into(),
        error => EffectError::Commit(CommitError::BrokenAttempt { id, reason: error.to_string() }),
    }
}
