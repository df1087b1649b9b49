use serde_json::Value;

use super::{Error, Operator};
use crate::{
    contract::{CallFact, InDoubt},
    effects::{
        act::{CONFIRM_APPLIED, CONFIRM_NOT_APPLIED, OVERRIDE_NOT_APPLIED},
        error::{EffectError, StateError},
    },
    id::Id,
    line::OneLine,
    observe::{NextStep, Observer, may_be, placeholder},
    store::LoadError,
};

/// The finding of a person about an action in doubt.
#[derive(Debug, Clone, Copy)]
pub enum Finding<'a> {
    /// It took effect; with the proof, as JSON if the machine that made the call reads another type
    /// than text. For a text it may be missing.
    Applied(Option<&'a str>),
    /// It did not take effect, and will not; with the reason, if any.
    NotApplied(Option<&'a str>),
    /// It counts as not applied before that can be known: the person takes responsibility.
    Overridden(Option<&'a str>),
}

impl Finding<'_> {
    fn act(&self) -> (&'static str, &str) {
        match self {
            Self::Applied(receipt) => {
                (CONFIRM_APPLIED, receipt.unwrap_or("a person found that it took effect"))
            }
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
        let doubt = self.doubtful(id, finding).await;
        let (operation, detail) = finding.act();
        self.checked(operation, &[id], detail, doubt).await
    }

    async fn doubtful(&self, id: Id, finding: Finding<'_>) -> Result<InDoubt, Error> {
        self.is_execution("confirm", id).await?;
        let doubt = match self.store.in_doubt(id).await {
            Err(StateError::NotInDoubt { id }) => Err(self.not_in_doubt(id).await),
            doubt => doubt.map_err(Error::from),
        };
        let doubt = self.or_instead(id, doubt).await?;
        match finding {
            Finding::Applied(receipt) => self.is_readable(&doubt, receipt).await?,
            // The person is not asked for an answer that would be refused.
            Finding::NotApplied(_) => {
                let checked = Box::pin(self.store.may_be_freed(doubt, self.store.now())).await;
                return match checked {
                    Ok(doubt) => Ok(doubt),
                    Err(refused) => Err(self.not_confirmed(id, refused.reason).await),
                };
            }
            Finding::Overridden(_) => {}
        }
        Ok(doubt)
    }

    /// Refuses a receipt that the machine behind the call could not read.
    async fn is_readable(&self, doubt: &InDoubt, receipt: Option<&str>) -> Result<(), Error> {
        let observer = Observer::new(&self.store);
        let ty = observer.receipt_type(doubt.context()).await?;
        let Some(ty) = ty.filter(|ty| !receipt.is_some_and(|it| may_be_receipt(it, ty))) else {
            return Ok(());
        };
        let shown = OneLine(&ty).to_string();
        let step = NextStep::Confirm { id: doubt.id(), applied: true, receipt: Some(ty) };
        Err(Error::refused(format!(
            "the machine that made the call reads a receipt of the type {shown}; pass it as JSON instead of \
             `<{shown}>`: `{step}`"
        )))
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
        let (id, store, by, (_, text)) = (doubt.id(), &self.store, self.by, finding.act());
        let settled = match finding {
            Finding::Applied(_) => store.confirm_applied(doubt, text, by).await.map(drop),
            Finding::NotApplied(_) => store.confirm_not_applied(doubt, text, by).await.map(drop),
            Finding::Overridden(_) => store.override_not_applied(doubt, text, by).await.map(drop),
        };
        match settled {
            Ok(()) => Ok(()),
            Err(refused) => Err(self.not_confirmed(id, refused.reason).await),
        }
    }

    async fn not_confirmed(&self, id: Id, reason: EffectError) -> Error {
        if reason.is_conflict() {
            return self.faster(id).await;
        }
        let early = matches!(
            reason,
            EffectError::WorkerAlive { .. }
                | EffectError::CutOff { .. }
                | EffectError::WorkerUnknown { .. }
                | EffectError::NotSettled { .. }
        );
        let error = Error::from(reason);
        if early { error.hint("`--override` does so") } else { error }
    }
}

/// Returns whether a text can be a receipt of this type, judged by its name.
fn may_be_receipt(text: &str, ty: &str) -> bool {
    let value: Value = serde_json::from_str(text).unwrap_or_else(|_| text.into());
    text != placeholder(ty) && may_be(&value, ty)
}

fn not_applied(reason: Option<&str>) -> &str {
    reason.unwrap_or("a person found that it did not take effect")
}
