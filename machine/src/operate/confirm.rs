use super::{Error, Operator};
use crate::{
    contract::{CallFact, InDoubt},
    effects::{
        act::{CONFIRM_APPLIED, CONFIRM_NOT_APPLIED, OVERRIDE_NOT_APPLIED},
        error::{EffectError, StateError},
    },
    id::Id,
    line::OneLine,
    store::LoadError,
};

/// The finding of a person about an action in doubt.
#[derive(Debug, Clone, Copy)]
pub enum Finding<'a> {
    /// It took effect; with the proof, if any.
    Applied(Option<&'a str>),
    /// It did not take effect, and will not; with the reason, if any.
    NotApplied(Option<&'a str>),
    /// It counts as not applied before that can be known: the person takes responsibility.
    Overridden(Option<&'a str>),
}

impl Finding<'_> {
    /// The act, and its detail for the operator log.
    fn act(&self) -> (&'static str, &str) {
        match self {
            Self::Applied(receipt) => (CONFIRM_APPLIED, applied(*receipt)),
            Self::NotApplied(reason) => (CONFIRM_NOT_APPLIED, not_applied(*reason)),
            Self::Overridden(reason) => (OVERRIDE_NOT_APPLIED, not_applied(*reason)),
        }
    }
}

impl Operator<'_> {
    /// The execution in doubt with this id, of which a person has found something.
    ///
    /// # Errors
    ///
    /// [`Error`]: nothing was changed, unless its text names what was done before.
    pub async fn in_doubt(&self, id: Id, finding: Finding<'_>) -> Result<InDoubt, Error> {
        let doubt = self.doubtful(id).await;
        let (operation, detail) = finding.act();
        self.checked(operation, &[id], detail, doubt).await
    }

    async fn doubtful(&self, id: Id) -> Result<InDoubt, Error> {
        self.is_execution("confirm", id).await?;
        let doubt = match self.store.in_doubt(id).await {
            Err(StateError::NotInDoubt { id }) => Err(self.not_in_doubt(id).await),
            doubt => doubt.map_err(Error::from),
        };
        self.or_instead(id, doubt).await
    }

    /// The refusal for an execution that is not in doubt, with the person who settled it.
    async fn not_in_doubt(&self, id: Id) -> Error {
        let confirmed = match self.confirmed(id).await {
            Ok(confirmed) => confirmed,
            Err(error) => return error.into(),
        };
        match confirmed {
            Some((by, applied)) => Error::refused(format!(
                "{id} is not in doubt: {} has already confirmed that it {}; see `show {id}`",
                OneLine(&by),
                if applied { "took effect" } else { "did not take effect" },
            )),
            None => StateError::NotInDoubt { id }.into(),
        }
    }

    /// The person who settled a doubt, and the finding.
    async fn confirmed(&self, id: Id) -> Result<Option<(String, bool)>, LoadError> {
        let history = self.store.history(id).await?;
        let mut entries = history.entries.iter().rev();
        Ok(entries.find_map(|entry| match CallFact::of(entry)? {
            CallFact::Confirmed { applied, .. } => {
                let by = entry.by.as_deref().or(entry.actor.as_deref());
                Some((by.unwrap_or("a program").to_owned(), applied))
            }
            _ => None,
        }))
    }

    /// The execution has changed since the person viewed it.
    async fn faster(&self, id: Id) -> Error {
        match self.store.in_doubt(id).await {
            Err(StateError::NotInDoubt { id }) => self.not_in_doubt(id).await,
            Ok(_) => Error::refused(format!(
                "{id} has changed since you viewed it and is still in doubt; nothing was confirmed; \
                 review it with `show {id}`"
            )),
            Err(error) => error.into(),
        }
    }

    /// Settles an execution in doubt.
    ///
    /// # Errors
    ///
    /// [`Error`]: nothing was changed, unless its text names what was done before.
    pub async fn confirm(&self, doubt: InDoubt, finding: Finding<'_>) -> Result<(), Error> {
        let id = doubt.execution().id();
        let settled = match finding {
            Finding::Applied(receipt) => {
                self.store.confirm_applied(doubt, applied(receipt), self.by).await.map(drop)
            }
            Finding::NotApplied(reason) => {
                let reason = not_applied(reason);
                self.store.confirm_not_applied(doubt, reason, self.by).await.map(drop)
            }
            Finding::Overridden(reason) => {
                let reason = not_applied(reason);
                self.store.override_not_applied(doubt, reason, self.by).await.map(drop)
            }
        };
        let Err(refused) = settled else { return Ok(()) };
        if refused.reason.is_conflict() {
            return Err(self.faster(id).await);
        }
        let early = matches!(
            refused.reason,
            EffectError::WorkerAlive { .. }
                | EffectError::CutOff { .. }
                | EffectError::WorkerUnknown { .. }
                | EffectError::NotSettled { .. }
        );
        let error = Error::from(refused.reason);
        Err(if early { error.hint("`--override` does so") } else { error })
    }
}

fn applied(receipt: Option<&str>) -> &str {
    receipt.unwrap_or("a person found that it took effect")
}

fn not_applied(reason: Option<&str>) -> &str {
    reason.unwrap_or("a person found that it did not take effect")
}
