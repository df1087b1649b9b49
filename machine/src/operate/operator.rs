use super::Error;
use crate::{
    actor::{Actors, Human},
    contract::{
        Action, AnyExecution, Contract, Execution, InDoubt, Planned, Progress, execution::Failed,
    },
    effects::{
        Batch,
        error::{EffectError, StateError},
        retries::{DecidedRetry, NotRetried},
    },
    id::Id,
    line::OneLine,
    store::{Prune, Pruned, Store, error::CommitError, operation::Act},
    typed::State,
    view::Label,
};

/// A person who acts on the machines of a store. Every act leaves a line in the operator log, also
/// one that is refused.
///
/// ```
/// use machine::actor::{Actors, Human};
/// use machine::contract::{Action, Contract, ToolSpec};
/// use machine::operate::Operator;
/// use machine::store::Store;
///
/// # pollster::block_on(async {
/// let (store, actors) = (Store::memory(), Actors::issue("office")?);
/// let email = ToolSpec::irreversible("email", "send")?;
/// let mail = Contract::tool_call(&email, r#"{"to": "bob@example.com"}"#, &actors.reasoning_node)?;
/// let (mut gate, mut mail) = mail.ask::<Action>(None, &actors.ecs_node)?;
/// store.ask(&mut gate, &mut mail).await?;
///
/// let ann = Human::new("ann@example.com")?;
/// let operator = Operator::new(&store, &actors, &ann, "office");
/// let gates = operator.gates("decline", &[gate.id()]).await?;
/// operator.decline(gates, Some("wrong address")).await?;
/// let line = store.operations(1, None).await?.items.pop().unwrap()?;
/// assert_eq!((&*line.by, &*line.via, &*line.operation), ("ann@example.com", "office", "decline"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct Operator<'a> {
    pub(crate) store: Store,
    pub(super) actors: &'a Actors,
    pub(crate) by: &'a Human,
}

impl<'a> Operator<'a> {
    /// `via` names the interface in the operator log, such as `cli`.
    #[must_use]
    pub fn new(store: &Store, actors: &'a Actors, by: &'a Human, via: &'static str) -> Self {
        Self { store: Store { via, ..store.clone() }, actors, by }
    }

    /// Retries a failed execution: a new attempt with the same key. Returns the id of the attempt.
    ///
    /// # Errors
    ///
    /// [`Error`]: nothing was changed, unless its text names what was done before.
    pub async fn retry(&self, id: Id) -> Result<Id, Error> {
        let failed = self.failed(id).await;
        let failed = self.checked("retry", &[id], "", failed).await?;
        let contract = Contract::retry(&failed, self.by);
        let mut again = Planned::<Action>::from(Execution::new(contract));
        // The batch logs it, and is refused if another attempt came first.
        let condition = DecidedRetry::of(&*again.machine()).and_then(|retry| retry.condition());
        let batch = condition.into_iter().fold(self.store.batch(), Batch::on_condition);
        match batch.create(again.machine()).write().await {
            Ok(()) => Ok(again.id()),
            Err(EffectError::Commit(CommitError::AlreadyDone { by, .. })) => {
                Err(Error::refused(already_done(by)))
            }
            Err(EffectError::Commit(CommitError::OtherAttempt { by, .. })) => {
                let refused = self.failed_execution(id).await.err();
                Err(refused.unwrap_or_else(|| {
                    Error::refused(format!("{by}, another attempt at the same action, came first"))
                }))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The execution to try again.
    ///
    /// # Errors
    ///
    /// [`Error`]: nothing was changed, unless its text names what was done before.
    pub async fn failed(&self, id: Id) -> Result<Execution<Failed>, Error> {
        self.is_execution("retry", id).await?;
        let failed = self.failed_execution(id).await;
        self.or_instead(id, failed).await
    }

    async fn failed_execution(&self, id: Id) -> Result<Execution<Failed>, Error> {
        let execution = self.store.load::<AnyExecution>(id).await?;
        let label = Label::of(&execution);
        let not_failed = || format!("{id} is {label}, not FAILED, so it cannot be retried");
        let reason = match self.store.not_retried(&execution).await? {
            Some(NotRetried::OfParent(parent)) => {
                return Err(EffectError::OfParent { id, parent }.into());
            }
            Some(NotRetried::Open(open)) => {
                format!("{open} is another attempt at the same action and has not ended")
            }
            Some(NotRetried::Newer(newer)) => {
                format!("{newer} is a newer attempt at the same action; retry that one")
            }
            Some(NotRetried::Applied(by)) => already_done(by),
            Some(NotRetried::NotFailed) => not_failed(),
            None => {
                return Failed::narrow(execution).map_err(|_| Error::refused(not_failed()));
            }
        };
        Err(Error::refused(reason))
    }

    /// Records that a person has seen and dealt with a contradiction.
    ///
    /// # Errors
    ///
    /// [`Error`]: nothing was changed, unless its text names what was done before.
    pub async fn acknowledge(&self, id: Id) -> Result<(), Error> {
        let checked = self.is_execution("acknowledge", id).await;
        self.checked("acknowledge", &[id], "", checked).await?;
        let contradicted = self.store.load::<AnyExecution>(id).await?;
        if let Some(by) = Progress::of(&contradicted).acknowledged_by {
            let error = Error::refused(format!(
                "{} has already acknowledged that {id} is contradicted; see `show {id}`",
                OneLine(&by)
            ));
            return self.checked("acknowledge", &[id], "", Err(error)).await;
        }
        let acknowledged = self.store.acknowledge(contradicted, self.by).await.map(drop);
        self.or_instead(id, acknowledged.map_err(Error::from)).await
    }

    /// Fences the worker of a call, which puts the call in doubt.
    ///
    /// # Errors
    ///
    /// [`Error`]: nothing was changed, unless its text names what was done before.
    pub async fn fence(&self, id: Id, reason: Option<&str>) -> Result<InDoubt, Error> {
        let reason = reason.unwrap_or(SHUT_OUT);
        let checked = self.is_execution("fence", id).await;
        self.checked("fence", &[id], reason, checked).await?;
        let act = self.act("fence", &[id], reason);
        let fenced = act.fence(id, reason, &self.actors.graph_runner).await;
        let fenced = fenced.map_err(|error| match error {
            StateError::NotRunning { id, found } => not_in_flight(id, &found),
            error => error.into(),
        });
        let fenced = self.or_instead(id, fenced).await;
        self.checked("fence", &[id], reason, fenced).await
    }

    /// The call whose worker is to be fenced, or whose service has accepted it and not reported.
    ///
    /// # Errors
    ///
    /// [`Error`]: nothing was changed, unless its text names what was done before.
    pub async fn in_flight(&self, id: Id, reason: Option<&str>) -> Result<AnyExecution, Error> {
        let call = async {
            self.is_execution("fence", id).await?;
            let any: AnyExecution = self.store.load(id).await?;
            let is_open = match &any {
                AnyExecution::Running(running) => running.context().is_irreversible(),
                other => Progress::of(other).awaits_report(),
            };
            let call = if is_open {
                Ok(any)
            } else {
                Err(not_in_flight(id, &any.status().definition().label))
            };
            self.or_instead(id, call).await
        };
        let call = call.await;
        self.checked("fence", &[id], reason.unwrap_or(SHUT_OUT), call).await
    }

    /// Deletes machines that have ended: see [`Store::prune`](crate::store::Store::prune). The
    /// detail is for the operator log.
    ///
    /// # Errors
    ///
    /// [`Error`] if the storage cannot do it now. What was deleted before stays deleted.
    pub async fn prune(&self, prune: &Prune, detail: &str) -> Result<Pruned, Error> {
        Ok(self.act("prune", &[], detail).prune(prune, self.by).await?)
    }

    pub(super) fn act(&self, operation: &'static str, machines: &[Id], detail: &str) -> Store {
        self.store.acting(Act::new(self.by, operation, machines, detail))
    }

    pub(super) async fn checked<T>(
        &self,
        operation: &'static str,
        machines: &[Id],
        detail: &str,
        checked: Result<T, Error>,
    ) -> Result<T, Error> {
        self.store.log_refusal([Act::new(self.by, operation, machines, detail)], checked).await
    }
}

const SHUT_OUT: &str = "its worker was fenced";

fn already_done(by: Id) -> String {
    format!("{by} has already performed this action, so there is nothing to retry; see `show {by}`")
}

fn not_in_flight(id: Id, found: &str) -> Error {
    Error::refused(format!(
        "{id} is {found}, and is not an irreversible call in flight, so there is no worker to fence"
    ))
}

pub(super) fn distinct(ids: &[Id]) -> Vec<Id> {
    let mut distinct = Vec::with_capacity(ids.len());
    for id in ids {
        if !distinct.contains(id) {
            distinct.push(*id);
        }
    }
    distinct
}
