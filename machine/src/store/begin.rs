use super::{CommitError, Store, retry::Retry};
use crate::{
    actor::{Actor, ToolNode},
    contract::{
        AnyExecution, CallFact, Execution, Permit, Token,
        execution::{Pending, Running},
    },
    journal::Pass,
    stored::{Durable, Snapshot},
    typed::{Refused, State},
};

impl Store {
    /// Starts an irreversible execution: takes its key, moves it to RUNNING, and issues the only
    /// permit. When it returns, all of this is durable.
    ///
    /// # Errors
    ///
    /// The pending execution, unchanged, with [`CommitError::Deferred`], [`CommitError::NeverRuns`]
    /// and [`CommitError::OtherAction`] if its confirmation does not allow it (EX-9);
    /// [`CommitError::AlreadyDone`] and [`CommitError::KeyHeld`] if another execution completed the
    /// action or holds the key (EX-5); [`CommitError::Conflict`] if another caller began it first;
    /// [`CommitError::NeedsNoPermit`] if the action is not irreversible.
    ///
    /// If the error [is indeterminate](super::Unavailable::is_indeterminate), the execution may be
    /// RUNNING without a permit: [`recover`](Self::recover) then finds it in doubt.
    pub async fn begin(
        &self,
        pending: Execution<Pending>,
        by: &ToolNode,
    ) -> Result<(Execution<Running>, Permit), Refused<Execution<Pending>, CommitError>> {
        let mut begin = Begin::new(pending, by);
        let mut retry = Retry::default();
        let error = loop {
            match self.batch().begin(&mut begin).write().await {
                Ok(()) => match begin.0 {
                    Step::Begun(running, permit) => return Ok((running, permit)),
                    _ => unreachable!("a batch that was written has issued the permit"),
                },
                Err(error) => {
                    if let Some(error) = retry.after(error) {
                        break error;
                    }
                }
            }
        };
        begin.undo();
        match begin.0 {
            Step::Pending(pending) => Err(Refused::new(pending, error)),
            _ => unreachable!("the execution was put back"),
        }
    }
}

/// The start of an irreversible execution, as a part of a [`Batch`](super::Batch). See
/// [`Store::begin`].
///
/// ```
/// # use machine::{actor::ToolNode, contract::{Execution, execution::Pending}, store::{Begin, CommitError, Store}};
/// # use machine::stored::Durable;
/// # async fn example(store: &Store, order: &mut dyn Durable, mail: Execution<Pending>) -> Result<(), CommitError> {
/// let mut begin = Begin::new(mail, &ToolNode);
/// store.batch().commit(order).begin(&mut begin).write().await?;
/// if let Some((running, permit)) = begin.begun() {
///     assert_eq!(permit.execution_id(), running.id());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Begin(Step);

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one at a time")]
enum Step {
    Pending(Execution<Pending>),
    /// In the batch, with what is needed to put the execution back.
    Started(Execution<Running>, Permit, Box<Snapshot>),
    Begun(Execution<Running>, Permit),
    /// Only while one step becomes the next.
    Taken,
}

impl Begin {
    /// Will start this execution.
    #[must_use]
    pub fn new(pending: Execution<Pending>, _by: &ToolNode) -> Self {
        Self(Step::Pending(pending))
    }

    /// The running execution and its permit, after the batch was written.
    #[must_use]
    pub fn begun(self) -> Option<(Execution<Running>, Permit)> {
        match self.0 {
            Step::Begun(running, permit) => Some((running, permit)),
            _ => None,
        }
    }

    /// The pending execution, if the batch was not written.
    #[must_use]
    pub fn into_pending(self) -> Option<Execution<Pending>> {
        match self.0 {
            Step::Pending(pending) => Some(pending),
            _ => None,
        }
    }

    pub(super) async fn start(&mut self, store: &Store) -> Result<(), CommitError> {
        let Step::Pending(pending) = &self.0 else { return Ok(()) };
        let id = pending.id();
        let contract = pending.context();
        if !contract.is_irreversible() {
            return Err(CommitError::NeedsNoPermit { id });
        }
        if pending.journal().version() == 0 {
            return Err(CommitError::NeverStored { id });
        }
        let unwritable = |reason: String| CommitError::Unwritable { id, reason };
        let snapshot = Snapshot::of(pending).map_err(|error| unwritable(error.to_string()))?;
        if let Some(key) = contract.idempotency_key() {
            store.trust_attempts(id, key).await?;
        }
        // Register the worker before the permit is on disk, so that no one finds the permit without
        // a live worker.
        let worker = store.inner.worker.clone();
        let at_work = store.run(move || worker.begin(id)).await?;
        let at_work = at_work.map_err(|error| CommitError::Lock(error.to_string()))?;

        let Step::Pending(mut pending) = std::mem::replace(&mut self.0, Step::Taken) else {
            unreachable!("it was pending above")
        };
        let epoch = pending.journal().epoch();
        let contract = pending.context();
        let (key, action) = (contract.idempotency_key().cloned(), contract.action().digest());
        let timeout_seconds = contract.timeout();
        // The constructors ensure that an irreversible contract has a key.
        if let Some(key) = &key {
            let fact = CallFact::Held { key: key.to_string() }.into_fact();
            pending.__journal_mut(Pass::new()).append(Some(ToolNode::KIND.into()), fact);
        }
        let mut running = pending.start(&ToolNode);
        let limit_ms = timeout_seconds.map_or(i64::MAX, |seconds| {
            i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1000)
        });
        let fact = CallFact::Permitted {
            worker: store.inner.worker.name().to_owned(),
            epoch,
            action,
            expires_at: store.now().saturating_add(limit_ms),
        };
        let fact = fact.into_fact();
        running.__journal_mut(Pass::new()).append(Some(ToolNode::KIND.into()), fact);
        // The batch fills in the token.
        let token = Token::new(0, 0);
        let permit =
            Permit { execution_id: id, key, epoch, token, action, timeout_seconds, at_work };
        self.0 = Step::Started(running, permit, Box::new(snapshot));
        Ok(())
    }

    pub(super) fn machine(&mut self) -> &mut dyn Durable {
        match &mut self.0 {
            Step::Pending(machine) => machine,
            Step::Started(machine, ..) | Step::Begun(machine, _) => machine,
            Step::Taken => unreachable!("no step is left unfinished"),
        }
    }

    /// The entry of the permit has this sequence number.
    pub(super) fn permit(&mut self, store: &Store, sequence: u64) {
        if let Step::Started(_, permit, _) = &mut self.0 {
            permit.token = Token::new(store.inner.identity.generation, sequence);
        }
    }

    pub(super) fn finish(&mut self) {
        self.0 = match std::mem::replace(&mut self.0, Step::Taken) {
            Step::Started(running, permit, _) => Step::Begun(running, permit),
            other => other,
        };
    }

    pub(super) fn undo(&mut self) {
        self.0 = match std::mem::replace(&mut self.0, Step::Taken) {
            Step::Started(_, _, snapshot) => {
                match snapshot.restore::<AnyExecution>().map(Pending::narrow) {
                    Ok(Ok(pending)) => Step::Pending(pending),
                    _ => unreachable!("the snapshot was taken from a pending execution"),
                }
            }
            other => other,
        };
    }
}
