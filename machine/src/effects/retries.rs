use crate::{
    contract::{
        AnyExecution, Contract, Progress,
        execution::{self, Status},
    },
    id::Id,
    store::{
        backend::{Condition, OtherAttempts},
        error::LoadError,
        handle::Store,
        operation::Act,
        read::query::Query,
    },
    stored::Durable,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotRetried {
    /// It has not failed.
    NotFailed,
    /// It is a child of this machine, which decides what follows.
    OfParent(Id),
    /// Another attempt at the same action has not ended.
    Open(Id),
    /// Another attempt took effect.
    Applied(Id),
    /// Another attempt failed later.
    Newer(Id),
}

/// A new execution that tries another one again because a person decided so.
#[derive(Debug)]
pub(crate) struct DecidedRetry<'a> {
    id: Id,
    of: Id,
    contract: &'a Contract,
    by: &'a str,
}

impl<'a> DecidedRetry<'a> {
    /// `None` if the machine is something else.
    pub(crate) fn of(machine: &'a dyn Durable) -> Option<Self> {
        let contract: &Contract = machine.__rules().__any().downcast_ref()?;
        let (of, by) = (contract.retry_of()?, contract.decided_by()?);
        Some(Self { id: machine.journal().id(), of, contract, by })
    }

    pub(crate) fn act(&self) -> Act {
        let (by, machines) = (self.by.to_owned(), vec![self.of]);
        Act { by, operation: "retry", machines, detail: String::new() }
    }

    /// What must hold when a person retries a failed execution: the condition of
    /// [`Store::not_retried`], which was asked before. An action without a key may have any number
    /// of attempts.
    pub(crate) fn condition(&self) -> Option<Condition> {
        let attempts = OtherAttempts {
            of: self.of,
            key: self.contract.idempotency_key()?.to_string(),
            machine: execution::DEFINITION.name.to_string(),
            done: Status::Completed.to_string(),
            failed: Status::Failed.to_string(),
        };
        Some(Condition::OnlyAttempt { id: self.id, attempts })
    }
}

impl Store {
    /// The reason for which a person cannot retry an execution; the condition of the command and of
    /// all views. A program may have several attempts that wait: of these, the key decides which
    /// one begins.
    pub(crate) async fn not_retried(
        &self,
        execution: &AnyExecution,
    ) -> Result<Option<NotRetried>, LoadError> {
        let id = execution.id();
        if execution.status() != Status::Failed {
            return Ok(Some(NotRetried::NotFailed));
        }
        if let Some(parent) = self.parent(id).await? {
            return Ok(Some(NotRetried::OfParent(parent)));
        }
        match execution.context().idempotency_key() {
            Some(key) => self.other_attempt(id, key.as_str()).await,
            None => Ok(None),
        }
    }

    async fn other_attempt(&self, id: Id, key: &str) -> Result<Option<NotRetried>, LoadError> {
        let mut next = Some(Query::new().key(key));
        let mut found = None;
        while let Some(query) = next {
            let page = self.load_all::<AnyExecution>(&query).await?;
            let others = page.items.iter().flatten().filter(|other| other.id() != id);
            for other in others {
                match other.status() {
                    status if !status.definition().terminal => {
                        return Ok(Some(NotRetried::Open(other.id())));
                    }
                    status if status == Status::Completed || Progress::of(other).applied => {
                        found = Some(NotRetried::Applied(other.id()));
                    }
                    Status::Failed if other.id() > id => {
                        found.get_or_insert(NotRetried::Newer(other.id()));
                    }
                    _ => {}
                }
            }
            next = page.next.map(|next| query.after(next));
        }
        Ok(found)
    }
}
