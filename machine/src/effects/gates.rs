use crate::{
    actor::{GraphRunner, Human},
    contract::{
        AnyExecution, Callable, Decision, Execution, Extent, Gate, Planned, Progress,
        execution::{Cancelled, Pending, Status},
    },
    effects::{
        change::Change,
        done::not_trusted,
        error::{EffectError, StateError},
        retry::Retry,
    },
    id::Id,
    journal::Digest,
    language::Language,
    store::{error::LoadError, handle::Store, write::attempt::KeyState},
    typed::Refused,
};

/// Why an execution is not a gate that waits for its answer.
fn answered(id: Id, other: &AnyExecution) -> StateError {
    if let Some(Decision { approved, by, at, .. }) = Progress::of(other).decision {
        return StateError::AlreadyDecided { id, approved, by, at };
    }
    let label = &other.status().definition().label;
    let found = match other {
        AnyExecution::Cancelled(gate) => format!("{label} ({})", gate.state().reason),
        _ => label.to_string(),
    };
    StateError::NotAGate { id, found }
}

impl Store {
    /// Stores a planned execution that does not wait for an approval.
    ///
    /// # Errors
    ///
    /// The errors of [`create`](Self::create).
    pub async fn plan<T: Callable>(&self, planned: &mut Planned<T>) -> Result<(), EffectError> {
        self.batch().create(planned.machine()).write().await
    }

    /// Stores a gate and the execution behind it, in one batch. See
    /// [`Contract::ask`](crate::contract::Contract::ask).
    ///
    /// # Errors
    ///
    /// The errors of [`create`](Self::create).
    ///
    /// ```
    /// use machine::actor::{Actors, Human};
    /// use machine::contract::{Action, Applied, Contract, Settled, ToolSpec, service_fn};
    /// use machine::store::Store;
    ///
    /// # pollster::block_on(async {
    /// let actors = Actors::issue("assistant")?;
    /// let store = Store::memory();
    /// let email = ToolSpec::irreversible("email", "send")?;
    /// let mail = Contract::tool_call(&email, r#"{"to": "bob@example.com"}"#, &actors.reasoning_node)?;
    /// let (mut gate, mut mail) = mail.ask::<Action>(None, &actors.ecs_node)?;
    /// store.ask(&mut gate, &mut mail).await?;
    ///
    /// // A person answers, perhaps in another process.
    /// let gate = store.gate(gate.id()).await?;
    /// let whole = gate.whole_question().ok_or("the mail cannot be read")?;
    /// println!("{}", whole.text);
    /// store.approve(gate, whole.digest, &Human::new("ann@example.com")?).await?;
    ///
    /// let smtp = service_fn(|_call| Box::pin(async { Ok(Applied::new("250 queued")) }));
    /// let settled = store.perform(mail, smtp, &actors.tool_node).await?;
    /// assert!(matches!(settled, Settled::Completed(_)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn ask<T: Callable>(
        &self,
        gate: &mut Gate,
        planned: &mut Planned<T>,
    ) -> Result<(), EffectError> {
        self.batch().create(gate.machine()).create(planned.machine()).write().await
    }

    /// Loads a PENDING execution with the arguments of its call.
    ///
    /// # Errors
    ///
    /// [`StateError::OtherState`] if it is not PENDING, [`StateError::Contract`] if it is for
    /// another tool, or its arguments do not fit; and those of [`load`](Self::load).
    pub async fn planned<T: Callable>(&self, id: Id) -> Result<Planned<T>, StateError> {
        let pending = self.resume::<Pending>(id).await?;
        Planned::of(pending)
            .map_err(|refused| StateError::Contract { id, source: Box::new(refused.reason) })
    }

    /// Loads a gate that waits for its answer.
    ///
    /// # Errors
    ///
    /// [`StateError::AlreadyDecided`] if it was answered, with the person's name;
    /// [`StateError::NotAGate`] if it is another machine, or no longer waits; and those of
    /// [`load`](Self::load).
    pub async fn gate(&self, id: Id) -> Result<Gate, StateError> {
        let any: AnyExecution = self.load(id).await?;
        let gate = match Gate::narrow(any) {
            Ok(gate) => gate,
            Err(other) => return Err(answered(id, &other)),
        };
        let behind = self.load::<AnyExecution>(gate.approval().execution()).await;
        let behind = LoadError::readable(behind)?;
        Ok(gate.with_whole(behind.map(|behind| behind.context().wording(Extent::Whole))))
    }

    /// Approves a gate: the execution behind it may run, once. The answer and the end of the gate
    /// are one batch. `shown` is the digest of the [whole question](Gate::whole_question), which
    /// the person has seen.
    ///
    /// # Errors
    ///
    /// The unchanged gate, with [`EffectError::AlreadyDecided`] if another person answered first,
    /// with that person's name; [`EffectError::GateExpired`]; [`EffectError::GateChanged`] if the
    /// action behind it differs from the one that it asks for; [`EffectError::GateDone`] if another
    /// execution has performed that action; [`EffectError::StateLeft`] if the machine has left the
    /// state that made the call; [`EffectError::NotShown`] if the digest belongs to another text.
    pub async fn approve(
        &self,
        gate: Gate,
        shown: Digest,
        by: &Human,
    ) -> Result<Decision, Refused<Gate, EffectError>> {
        self.change(Change::approve(gate, shown, by), Retry::default()).await
    }

    /// Declines a gate: the execution behind it never runs. The same batch ends it as
    /// CANCELLED, with the reason.
    ///
    /// # Errors
    ///
    /// See [`approve`](Self::approve). An action that another execution has performed can be
    /// declined.
    pub async fn decline(
        &self,
        gate: Gate,
        reason: &str,
        by: &Human,
    ) -> Result<Decision, Refused<Gate, EffectError>> {
        self.change(Change::decline(gate, reason, by), Retry::default()).await
    }

    /// Returns an error that names the earlier decision, if there is one; otherwise the error
    /// unchanged.
    pub(super) async fn decided_by_another(&self, id: Id, error: EffectError) -> EffectError {
        match self.gate(id).await {
            Err(StateError::AlreadyDecided { id, approved, by, at }) => {
                EffectError::AlreadyDecided { id, approved, by, at }
            }
            Err(StateError::NotAGate { id, found }) => EffectError::GateEnded { id, found },
            _ => error,
        }
    }

    /// Ends an expired gate: WAITING to CANCELLED, along with the execution behind it.
    /// [`Query::due`](crate::store::Query::due) lists expired gates.
    ///
    /// # Errors
    ///
    /// The unchanged gate, with [`EffectError::NotDue`] if it can still be answered, and
    /// [`EffectError::AlreadyDecided`].
    pub async fn expire(
        &self,
        gate: Gate,
        by: &GraphRunner,
    ) -> Result<Execution<Cancelled>, Refused<Gate, EffectError>> {
        let id = gate.id();
        if gate.expires_at().is_none_or(|at| at > self.now()) {
            return Err(Refused::new(gate, EffectError::NotDue { id }));
        }
        let ended = gate.fork().timeout(by);
        self.end_gate(gate, ended).await
    }

    /// Ends a gate whose answer is no longer needed: WAITING to CANCELLED, along with the execution
    /// behind it.
    ///
    /// # Errors
    ///
    /// The unchanged gate, with [`EffectError::AlreadyDecided`].
    pub async fn withdraw(
        &self,
        gate: Gate,
        reason: &str,
        by: &GraphRunner,
    ) -> Result<Execution<Cancelled>, Refused<Gate, EffectError>> {
        let reason = crate::contract::bounded(reason.to_owned());
        let ended = gate.fork().cancel(reason, by);
        self.end_gate(gate, ended).await
    }

    async fn end_gate(
        &self,
        gate: Gate,
        ended: Execution<Cancelled>,
    ) -> Result<Execution<Cancelled>, Refused<Gate, EffectError>> {
        match self.advance(gate, ended).await {
            Err(Refused { machine: gate, reason }) if reason.is_conflict() => {
                let reason = self.decided_by_another(gate.id(), reason).await;
                Err(Refused::new(gate, reason))
            }
            result => result,
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) stale: Option<String>,
    pub(crate) caution: Option<String>,
}

impl Store {
    /// Checks whether a gate can still be approved, and whether that calls for caution.
    pub(crate) async fn standing(&self, gate: &Gate) -> Result<Standing, LoadError> {
        let stale = |error: EffectError| Standing { stale: Some(error.to_string()), caution: None };
        if let Some(at) = gate.expires_at().filter(|at| *at <= self.now()) {
            return Ok(stale(EffectError::GateExpired { id: gate.id(), at }));
        }
        match self.approvable(gate).await {
            Ok((_, key)) => Ok(Standing { stale: None, caution: self.caution(key).await? }),
            Err(EffectError::Unavailable(error)) => Err(error.into()),
            Err(error) => Ok(stale(error)),
        }
    }

    /// The execution behind a gate, if it is still the one that it asks for.
    pub(super) async fn behind(&self, gate: &Gate) -> Result<AnyExecution, EffectError> {
        let (id, approval) = (gate.id(), gate.approval());
        let changed = |reason: String| EffectError::GateChanged { id, reason };
        let execution = approval.execution();
        let behind: AnyExecution = match self.load(execution).await {
            Ok(behind) => behind,
            Err(LoadError::Unavailable(error)) => return Err(error.into()),
            Err(error) => return Err(changed(error.to_string())),
        };
        if behind.context().behind() != Some(id) {
            return Err(changed(format!("{execution} does not wait for it")));
        }
        if behind.context().action().digest() != approval.action() {
            return Err(changed(format!("{execution} has a different action")));
        }
        if behind.context().question_in(Language::English) != gate.question() {
            return Err(changed("its question does not match its action".to_owned()));
        }
        if behind.status() != Status::Pending {
            let label = &behind.status().definition().label;
            return Err(changed(format!("{execution} is {label}")));
        }
        Ok(behind)
    }

    /// The execution behind a gate, if it can still be approved, and the state of its key. While
    /// another execution holds the key, a person can approve: the action runs only if that one did
    /// not take effect.
    pub(super) async fn approvable(
        &self,
        gate: &Gate,
    ) -> Result<(AnyExecution, KeyState), EffectError> {
        let (id, behind) = (gate.id(), self.behind(gate).await?);
        let trusted = |error| not_trusted(id, error);
        match self.key_for(&behind).await.map_err(trusted)? {
            KeyState::Applied { by } => {
                let done = self.done(by).await.map_err(trusted)?;
                Err(EffectError::GateDone { id, done })
            }
            key => Ok((behind, key)),
        }
    }
}
