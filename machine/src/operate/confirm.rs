use super::{Error, Operator};
use crate::{contract::InDoubt, id::Id, store::CommitError};

/// What a person found out about an action in doubt.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Finding<'a> {
    /// It took place; this shows it.
    Applied(Option<&'a str>),
    /// It did not take place, and will not; for this reason.
    NotApplied(Option<&'a str>),
    /// The same before that can be known: the person takes responsibility.
    Overridden(Option<&'a str>),
}

impl Operator<'_> {
    /// The execution in doubt with this id.
    pub(crate) async fn in_doubt(&self, id: Id) -> Result<InDoubt, Error> {
        let doubt = self.store.in_doubt(id).await.map_err(Error::from);
        self.checked("confirm", &[id], "", doubt).await
    }

    /// Settles an execution in doubt.
    pub(crate) async fn confirm(&self, doubt: InDoubt, finding: Finding<'_>) -> Result<(), Error> {
        let id = doubt.execution().id();
        let (operation, text) = match finding {
            Finding::Applied(receipt) => {
                ("confirm applied", receipt.unwrap_or("a person found that it took place"))
            }
            Finding::NotApplied(reason) => ("confirm not applied", not_applied(reason)),
            Finding::Overridden(reason) => ("override not applied", not_applied(reason)),
        };
        self.logged(operation, &[id], text, async {
            let settled = match finding {
                Finding::Applied(_) => {
                    self.store.confirm_applied(doubt, text, self.by).await.map(drop)
                }
                Finding::NotApplied(_) => {
                    self.store.confirm_not_applied(doubt, text, self.by).await.map(drop)
                }
                Finding::Overridden(_) => {
                    self.store.override_not_applied(doubt, text, self.by).await.map(drop)
                }
            };
            settled.map_err(|refused| {
                let early = matches!(
                    refused.reason,
                    CommitError::WorkerAlive { .. }
                        | CommitError::WorkerUnknown { .. }
                        | CommitError::NotSettled { .. }
                );
                let error = Error::from(refused.reason);
                if early { error.hint("`--override` does so") } else { error }
            })
        })
        .await
    }
}

fn not_applied(reason: Option<&str>) -> &str {
    reason.unwrap_or("a person found that it did not take place")
}
