use super::{CommitError, LoadError, Store, begin::Approved, retry::Retry};
use crate::{
    actor::{GraphRunner, Human},
    clock::Millis,
    contract::{
        AnyExecution, Callable, Decided, Decision, Execution, Extent, Gate, Planned, Progress,
        WholeQuestion,
        execution::{Cancelled, Pending, Status, Waiting},
        question,
    },
    id::Id,
    journal::Digest,
    stored::{Durable, Snapshot},
    typed::Refused,
};

/// Why an execution is not a gate that waits for its answer.
fn answered(id: Id, other: &AnyExecution) -> LoadError {
    if let Some(Decision { approved, by, at, .. }) = Progress::of(other).decision().cloned() {
        return LoadError::AlreadyDecided { id, approved, by, at };
    }
    let label = &other.status().definition().label;
    let found = match other {
        AnyExecution::Cancelled(gate) => format!("{label} ({})", gate.state().reason),
        _ => label.to_string(),
    };
    LoadError::NotAGate { id, found }
}

impl Store {
    /// Stores a planned execution that waits for nobody.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create).
    pub async fn plan<T: Callable>(&self, planned: &mut Planned<T>) -> Result<(), CommitError> {
        self.batch().create(planned.machine()).write().await
    }

    /// Stores a gate and the execution behind it, in one batch. See
    /// [`Contract::ask`](crate::contract::Contract::ask).
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create).
    ///
    /// ```
    /// use machine::actor::{Actors, Human};
    /// use machine::contract::{Action, Applied, Contract, Settled, ToolSpec, service_fn};
    /// use machine::store::Store;
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
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
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn ask<T: Callable>(
        &self,
        gate: &mut Gate,
        planned: &mut Planned<T>,
    ) -> Result<(), CommitError> {
        self.batch().create(gate.machine()).create(planned.machine()).write().await
    }

    /// Loads a PENDING execution with the arguments of its call.
    ///
    /// # Errors
    ///
    /// [`LoadError::OtherState`] if it is not PENDING, [`LoadError::Contract`] if it is for another
    /// tool, or its arguments do not fit; and those of [`load`](Self::load).
    pub async fn planned<T: Callable>(&self, id: Id) -> Result<Planned<T>, LoadError> {
        let pending = self.resume::<Pending>(id).await?;
        Planned::of(pending)
            .map_err(|refused| LoadError::Contract { id, source: Box::new(refused.reason) })
    }

    /// Loads a gate that waits for its answer.
    ///
    /// # Errors
    ///
    /// [`LoadError::AlreadyDecided`] if it was answered, with who did; [`LoadError::NotAGate`] if it
    /// is another machine, or one that no longer waits; and those of [`load`](Self::load).
    pub async fn gate(&self, id: Id) -> Result<Gate, LoadError> {
        let any: AnyExecution = self.load(id).await?;
        let gate = match Gate::narrow(any) {
            Ok(gate) => gate,
            Err(other) => return Err(answered(id, &other)),
        };
        let whole = match self.load::<AnyExecution>(gate.approval().execution()).await {
            Ok(behind) => Some(question(behind.context(), Extent::Whole)),
            Err(LoadError::Unavailable(error)) => return Err(error.into()),
            Err(_) => None,
        };
        Ok(gate.with_whole(whole))
    }

    /// Approves what a gate asks for: the execution behind it may run, once. The answer and the end of
    /// the gate are one batch. `shown` is the digest of the [whole question](Gate::whole_question), which
    /// the person has seen.
    ///
    /// # Errors
    ///
    /// The unchanged gate, with [`CommitError::AlreadyDecided`] if another person answered first, with
    /// that person's name; [`CommitError::GateExpired`]; [`CommitError::GateChanged`] if the action behind it is not
    /// the one that it asks for; [`CommitError::NotShown`] if the digest is that of another text.
    pub async fn approve(
        &self,
        gate: Gate,
        shown: Digest,
        by: &Human,
    ) -> Result<Decision, Refused<Gate, CommitError>> {
        self.decide(Decide::approve(gate, shown, by)).await
    }

    /// Declines what a gate asks for: the execution behind it never runs, and
    /// [`cancel`](Self::cancel) ends it.
    ///
    /// # Errors
    ///
    /// See [`approve`](Self::approve).
    pub async fn decline(
        &self,
        gate: Gate,
        reason: &str,
        by: &Human,
    ) -> Result<Decision, Refused<Gate, CommitError>> {
        self.decide(Decide::decline(gate, reason, by)).await
    }

    async fn decide(&self, mut decide: Decide) -> Result<Decision, Refused<Gate, CommitError>> {
        let mut retry = Retry::default();
        let error = loop {
            match self.batch().decide(&mut decide).write().await {
                Ok(()) => match decide.step {
                    Step::Decided(decided) => return Ok(decided.decision()),
                    _ => unreachable!("a batch that was written has decided the gate"),
                },
                Err(error) => {
                    if let Some(error) = retry.after(error) {
                        break error;
                    }
                }
            }
        };
        decide.undo();
        let Step::Asked(gate) = decide.step else { unreachable!("the gate was put back") };
        Err(Refused::new(gate, error))
    }

    /// Who was faster; otherwise the error as it is.
    pub(super) async fn decided_by_another(&self, id: Id, error: CommitError) -> CommitError {
        match self.gate(id).await {
            Err(LoadError::AlreadyDecided { id, approved, by, at }) => {
                CommitError::AlreadyDecided { id, approved, by, at }
            }
            Err(LoadError::NotAGate { id, found }) => CommitError::GateEnded { id, found },
            _ => error,
        }
    }

    /// Ends a gate whose time is over: WAITING to CANCELLED. [`Query::due`](super::Query::due) lists
    /// those.
    ///
    /// # Errors
    ///
    /// The unchanged gate, with [`CommitError::NotDue`] if it can still be answered, and
    /// [`CommitError::AlreadyDecided`].
    pub async fn expire(
        &self,
        gate: Gate,
        by: &GraphRunner,
    ) -> Result<Execution<Cancelled>, Refused<Gate, CommitError>> {
        let id = gate.id();
        if gate.expires_at().is_none_or(|at| at > self.now()) {
            return Err(Refused::new(gate, CommitError::NotDue { id }));
        }
        self.end_gate(gate, |waiting| waiting.timeout(by)).await
    }

    /// Ends a gate that nobody needs to answer any more: WAITING to CANCELLED.
    ///
    /// # Errors
    ///
    /// The unchanged gate, with [`CommitError::AlreadyDecided`].
    pub async fn withdraw(
        &self,
        gate: Gate,
        reason: &str,
        by: &GraphRunner,
    ) -> Result<Execution<Cancelled>, Refused<Gate, CommitError>> {
        let reason = crate::contract::bounded(reason.to_owned());
        self.end_gate(gate, |waiting| waiting.cancel(reason, by)).await
    }

    async fn end_gate(
        &self,
        mut gate: Gate,
        end: impl FnOnce(Execution<Waiting>) -> Execution<Cancelled>,
    ) -> Result<Execution<Cancelled>, Refused<Gate, CommitError>> {
        let id = gate.id();
        let snapshot = match Snapshot::of(gate.machine()) {
            Ok(snapshot) => snapshot,
            Err(error) => {
                let reason = CommitError::Unwritable { id, reason: error.to_string() };
                return Err(Refused::new(gate, reason));
            }
        };
        let (waiting, whole) = gate.into_parts();
        let mut cancelled = end(waiting);
        let mut retry = Retry::default();
        let error = loop {
            match self.commit(&mut cancelled).await {
                Ok(()) => return Ok(cancelled),
                Err(error) => {
                    if let Some(error) = retry.after(error) {
                        break error;
                    }
                }
            }
        };
        let reason = match error {
            error @ CommitError::Conflict { .. } => self.decided_by_another(id, error).await,
            error => error,
        };
        match Gate::of_snapshot(snapshot, whole) {
            Some(gate) => Err(Refused::new(gate, reason)),
            None => unreachable!("the snapshot was taken from a gate"),
        }
    }
}

/// The answer to a gate, as a part of a [`Batch`](super::Batch), where several are answered together
/// or a workflow moves with them. See [`Store::approve`].
///
/// ```
/// # use machine::{actor::Human, contract::{Gate, WholeQuestion}, store::{CommitError, Decide, Store}};
/// # async fn example(store: &Store, first: Gate, second: Gate, shown: WholeQuestion, ann: &Human)
/// # -> Result<(), CommitError> {
/// let mut first = Decide::approve(first, shown.digest, ann);
/// let mut second = Decide::decline(second, "wrong address", ann);
/// store.batch().decide(&mut first).decide(&mut second).write().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Decide {
    step: Step,
    answer: Answer,
    by: Human,
}

#[derive(Debug)]
enum Answer {
    /// With the digest of the question that was shown.
    Approve(Digest),
    /// With the reason.
    Decline(String),
}

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one at a time")]
enum Step {
    Asked(Gate),
    /// In the batch, with what is needed to put the gate back.
    Recorded(Decided, Box<Snapshot>, Option<String>),
    Decided(Decided),
    /// Only while one step becomes the next.
    Taken,
}

impl Decide {
    /// Will approve; `shown` is the digest of the [whole question](Gate::whole_question).
    #[must_use]
    pub fn approve(gate: Gate, shown: Digest, by: &Human) -> Self {
        Self { step: Step::Asked(gate), answer: Answer::Approve(shown), by: by.clone() }
    }

    /// Will decline, for this reason.
    #[must_use]
    pub fn decline(gate: Gate, reason: &str, by: &Human) -> Self {
        let answer = Answer::Decline(crate::contract::bounded(reason.to_owned()));
        Self { step: Step::Asked(gate), answer, by: by.clone() }
    }

    /// The answer as it is on record, when the batch was written.
    #[must_use]
    pub fn decided(self) -> Option<Decision> {
        match self.step {
            Step::Decided(decided) => Some(decided.decision()),
            _ => None,
        }
    }

    /// The gate, if the batch was not written.
    #[must_use]
    pub fn into_gate(self) -> Option<Gate> {
        match self.step {
            Step::Asked(gate) => Some(gate),
            _ => None,
        }
    }

    /// The gate and its approval, if the answer is yes. It was recorded.
    pub(super) fn approval(&mut self) -> Option<(Id, Approved)> {
        let Step::Recorded(decided, ..) = &mut self.step else { return None };
        let decision = decided.decision();
        let id = decided.machine().journal().id();
        decision.approved.then(|| (id, Approved::new(id, &decision.by, decision.expires_at)))
    }

    pub(super) async fn record(&mut self, store: &Store) -> Result<(), CommitError> {
        let Step::Asked(gate) = &mut self.step else { return Ok(()) };
        let id = gate.id();
        let now = store.now();
        if gate.execution().journal().version() == 0 {
            return Err(CommitError::NeverStored { id });
        }
        let refused = match gate.expires_at().filter(|at| *at <= now) {
            Some(at) => Err(CommitError::GateExpired { id, at }),
            None => store.is_unchanged(gate, &self.answer).await,
        };
        if let Err(error) = refused {
            return Err(store.decided_by_another(id, error).await);
        }
        let snapshot = Snapshot::of(gate.machine())
            .map_err(|error| CommitError::Unwritable { id, reason: error.to_string() })?;
        let Step::Asked(gate) = std::mem::replace(&mut self.step, Step::Taken) else {
            unreachable!("it was asked above")
        };
        let (decided, whole) = match &self.answer {
            Answer::Approve(_) => gate.decided(None, &self.by, now),
            Answer::Decline(reason) => gate.decided(Some(reason), &self.by, now),
        };
        self.step = Step::Recorded(decided, Box::new(snapshot), whole);
        Ok(())
    }

    pub(super) fn machine(&mut self) -> &mut dyn Durable {
        match &mut self.step {
            Step::Asked(gate) => gate.machine(),
            Step::Recorded(decided, ..) | Step::Decided(decided) => decided.machine(),
            Step::Taken => unreachable!("no step is left unfinished"),
        }
    }

    pub(super) fn finish(&mut self) {
        self.step = match std::mem::replace(&mut self.step, Step::Taken) {
            Step::Recorded(decided, ..) => Step::Decided(decided),
            other => other,
        };
    }

    pub(super) fn undo(&mut self) {
        self.step = match std::mem::replace(&mut self.step, Step::Taken) {
            Step::Recorded(_, snapshot, whole) => match Gate::of_snapshot(*snapshot, whole) {
                Some(gate) => Step::Asked(gate),
                None => unreachable!("the snapshot was taken from a gate"),
            },
            other => other,
        };
    }
}

impl Store {
    /// Why a gate can no longer be approved; `None` if it can.
    pub(crate) async fn why_stale(&self, gate: &Gate) -> Result<Option<String>, LoadError> {
        if let Some(at) = gate.expires_at().filter(|at| *at <= self.now()) {
            let id = gate.id();
            return Ok(Some(CommitError::GateExpired { id, at }.to_string()));
        }
        match self.behind(gate).await {
            Ok(_) => Ok(None),
            Err(CommitError::Unavailable(error)) => Err(error.into()),
            Err(error) => Ok(Some(error.to_string())),
        }
    }

    /// The gate with this id, if it waits for an answer that can still be given.
    pub(crate) async fn open_gate(&self, id: Id) -> Result<Option<Gate>, LoadError> {
        let gate = match self.gate(id).await {
            Ok(gate) => gate,
            Err(LoadError::Unavailable(error)) => return Err(error.into()),
            Err(_) => return Ok(None),
        };
        Ok(self.why_stale(&gate).await?.is_none().then_some(gate))
    }

    /// Whether a gate can be answered like this.
    async fn is_unchanged(&self, gate: &Gate, answer: &Answer) -> Result<(), CommitError> {
        let behind = self.behind(gate).await?;
        let whole = || WholeQuestion::new(question(behind.context(), Extent::Whole));
        match answer {
            Answer::Approve(shown) if whole().digest != *shown => {
                Err(CommitError::NotShown { id: gate.id() })
            }
            _ => Ok(()),
        }
    }

    /// The execution behind a gate, if it is still the one that it asks for.
    async fn behind(&self, gate: &Gate) -> Result<AnyExecution, CommitError> {
        let (id, approval) = (gate.id(), gate.approval());
        let changed = |reason: String| CommitError::GateChanged { id, reason };
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
            return Err(changed(format!("the action of {execution} is another one")));
        }
        if question(behind.context(), Extent::Short) != gate.question() {
            return Err(changed("its question is not the one that its action makes".to_owned()));
        }
        if behind.status() != Status::Pending {
            let label = &behind.status().definition().label;
            return Err(changed(format!("{execution} is {label}")));
        }
        Ok(behind)
    }

    /// Whether the approval that a gate gave can still be used.
    pub(super) fn is_in_time(&self, expires_at: Option<Millis>) -> bool {
        expires_at.is_none_or(|at| at > self.now())
    }
}
