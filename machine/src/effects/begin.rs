use std::sync::Arc;

use crate::{
    actor::ToolNode,
    actor::who::who,
    clock::{Millis, later},
    contract::{
        CallFact, CallHandle, CallRecord, Callable, CallbackToken, Contract, Execution, Owner,
        Permit, Planned, Token, append, execution::Running, fork,
    },
    effects::{
        change::{Change, Finish, Fork, ForkChange},
        error::EffectError,
        gate_state::GateState,
        permit_check::StorePermitCheck,
        retry::Retry,
    },
    future::BoxFuture,
    id::Id,
    store::{
        backend::Condition,
        error::{CommitError, Unavailable},
        handle::Store,
        process::{host, lock_file},
    },
    stored::Durable,
    typed::Refused,
};

impl Store {
    /// Starts an execution: takes the key of an irreversible action, moves it to RUNNING, and
    /// issues the only permit. When this returns, all of it is durable. [`perform`](Self::perform)
    /// also makes the call and settles it.
    ///
    /// # Errors
    ///
    /// The planned execution, unchanged, with [`EffectError::Deferred`],
    /// [`EffectError::NeverRuns`], [`EffectError::NotApproved`] and
    /// [`EffectError::ApprovalExpired`] if its gate does not allow it; [`EffectError::StateLeft`]
    /// if the machine has left the state that made the call; [`EffectError::Declined`] if a person
    /// declined the action, and no one has approved it since; [`EffectError::Contract`] if the call
    /// would not run with the stored arguments; [`EffectError::OtherIdentity`] and
    /// [`EffectError::IdentityChanged`] if this program derives other keys for the tool than an
    /// earlier program; [`CommitError::AlreadyDone`] and [`CommitError::KeyHeld`] if another
    /// execution completed the action or holds the key; [`CommitError::Conflict`] if another caller
    /// began it first.
    ///
    /// If the error is [indeterminate](crate::store::Unavailable::Indeterminate), the execution
    /// may be RUNNING without a permit: [`recover`](Self::recover) then finds it in doubt.
    pub async fn begin<T: Callable>(
        &self,
        planned: impl Into<Planned<T>>,
        by: &ToolNode,
    ) -> Result<Begun<T>, Refused<Planned<T>, EffectError>> {
        self.change(Change::begin(planned.into(), by), Retry::default()).await
    }
}

pub(crate) type Begun<T> = (Execution<Running>, Permit<T>);

impl<'a, T: Callable> Change<'a, Planned<T>, Begun<T>> {
    /// Will start this execution. See [`Store::begin`].
    #[must_use]
    pub fn begin(planned: Planned<T>, by: &'a ToolNode) -> Self {
        let fork = Fork::new(planned);
        Self(Box::new(Begin { fork, by, gate: None, conditions: Vec::new() }))
    }
}

struct Begin<'a, T: Callable> {
    fork: Fork<Planned<T>, Begun<T>>,
    by: &'a ToolNode,
    gate: Option<GateState>,
    conditions: Vec<Condition>,
}

impl<T: Callable> Begin<'_, T> {
    async fn start(
        &mut self,
        store: &Store,
        approved: &[(Id, String)],
    ) -> Result<Begun<T>, EffectError> {
        let planned = &*self.fork.before;
        let (id, contract) = (planned.id(), planned.context());
        self.conditions = state_not_left(id, id, contract).into_iter().collect();
        if planned.journal().version() == 0 {
            return Err(EffectError::Commit(CommitError::NeverStored { id }));
        }
        if let (Some(key), true) = (contract.idempotency_key(), contract.is_irreversible()) {
            store.check_attempts(id, key).await?;
            self.conditions.extend(store.not_declined(id, contract).await?);
            store.trust_identity::<T>(contract).await?;
        }
        let approved_by = match contract.behind() {
            None => None,
            Some(gate) => match approved.iter().find(|(of, _)| *of == gate) {
                Some((_, by)) => Some(by.clone()),
                None => {
                    // The rest of the batch may write the gate, so a later check decides whether it
                    // is open.
                    self.gate.insert(store.gate_state(id, gate).await?).approved_by()
                }
            },
        };
        let answers_later = T::__tool().is_some_and(|tool| tool.answers_later);
        let callback = answers_later.then(CallbackToken::fresh).transpose();
        let callback = callback.map_err(Unavailable::other)?;
        let arguments: T =
            contract.arguments_to_run().map_err(|source| EffectError::Contract { id, source })?;
        // Register the worker before the permit is on disk, so that no one finds the permit without
        // a live worker.
        let record = store.call_record(id, contract.is_irreversible()).await?;

        let mut pending = fork(planned);
        // The constructors ensure that an irreversible contract has a key.
        if let (Some(key), true) = (contract.idempotency_key(), contract.is_irreversible()) {
            append(&mut pending, who(self.by), CallFact::Held { key: key.to_string() });
        }
        let mut running = pending.start(self.by);
        let (fact, expires_at) = store.permitted(&running, approved_by, callback.as_ref());
        append(&mut running, who(self.by), fact);
        let handle = store.call_handle(record, &running, self.by);
        Ok((running, Permit::new(arguments, contract, expires_at, callback, handle)))
    }
}

impl<T: Callable> ForkChange for Begin<'_, T> {
    fn prepare<'a>(
        &'a mut self,
        store: &'a Store,
        approved: &'a [(Id, String)],
    ) -> BoxFuture<'a, Result<(), EffectError>> {
        Box::pin(async move {
            if self.fork.next.is_none() {
                self.fork.next = Some(self.start(store, approved).await?);
            }
            Ok(())
        })
    }

    fn machine(&mut self) -> &mut dyn Durable {
        match &mut self.fork.next {
            Some((running, _)) => running,
            None => self.fork.before.machine(),
        }
    }

    fn gate(&self) -> Option<GateState> {
        self.gate.clone()
    }

    fn conditions(&self) -> Vec<Condition> {
        self.conditions.clone()
    }

    /// The entry of the permit has this sequence number.
    fn committed(&mut self, store: &Store, sequence: u64) {
        if let Some((running, permit)) = self.fork.committed() {
            store.made_attempt::<T>(running.id(), running.context(), sequence);
            permit.set_token(Token::new(store.inner.identity.generation, sequence));
        }
    }

    fn discard(&mut self) {
        if let Some((_, permit)) = self.fork.next.take() {
            permit.handle().record.prove();
        }
    }
}

impl<T: Callable> Finish<Planned<T>, Begun<T>> for Begin<'_, T> {
    fn finish(mut self: Box<Self>) -> Result<Begun<T>, Planned<T>> {
        if !self.fork.is_written {
            self.discard();
        }
        self.fork.finish()
    }
}

/// The condition that the state that made a call was not left, for the write of this machine;
/// `None` if a program made it.
pub(crate) fn state_not_left(by: Id, call: Id, contract: &Contract) -> Option<Condition> {
    contract.invoked().map(|origin| Condition::StateNotLeft { by, call, parent: origin.id })
}

impl Store {
    /// The fact that a worker of this store starts to call now, and when the call times out, if it
    /// has a limit.
    pub(super) fn permitted(
        &self,
        running: &Execution<Running>,
        approved_by: Option<String>,
        callback: Option<&CallbackToken>,
    ) -> (CallFact, Option<Millis>) {
        let contract = running.context();
        let expires_at = contract.timeout().map(|limit| later(self.now(), limit));
        let fact = CallFact::Permitted {
            worker: self.inner.worker.name().to_owned(),
            process: host::process().clone(),
            epoch: running.journal().epoch(),
            action: contract.action().digest(),
            expires_at: expires_at.unwrap_or(Millis::MAX),
            approved_by,
            callback: callback.map(CallbackToken::digest),
        };
        (fact, expires_at)
    }

    pub(super) async fn call_record(
        &self,
        id: Id,
        irreversible: bool,
    ) -> Result<Arc<CallRecord>, EffectError> {
        if self.inner.worker.observes() {
            return Err(Unavailable::ReadOnly.into());
        }
        let calls = Arc::clone(&self.effects().calls);
        let record = self.run(move || calls.begin(id, irreversible)).await?;
        record.map_err(|error| EffectError::Lock(lock_file::failure(&error)))
    }

    pub(super) fn call_handle(
        &self,
        record: Arc<CallRecord>,
        running: &Execution<Running>,
        by: &ToolNode,
    ) -> CallHandle {
        let permit_check = Arc::new(StorePermitCheck::new(self, by));
        let (id, epoch) = (running.id(), running.journal().epoch());
        CallHandle::new(record, permit_check, id, epoch, Arc::clone(&self.effects().calls) as Owner)
    }
}
