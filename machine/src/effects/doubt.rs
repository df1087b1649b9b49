use futures_util::future::{Either, select};
use std::sync::Arc;

use crate::{
    actor::who::{Who, who},
    actor::{GraphRunner, Human, ToolNode},
    contract::{
        Answered, AnyExecution, Attempt, CallFact, Callable, Evidence, Execution, InDoubt, Perform,
        Progress, Refusal, Settled, append, bounded, bounded_receipt,
        execution::{Completed, Failed},
    },
    effects::{
        act::{CONFIRM_APPLIED, CONFIRM_NOT_APPLIED, OVERRIDE_NOT_APPLIED},
        error::{EffectError, StateError},
        recover::unless_overtaken,
        spans,
    },
    future::BoxFuture,
    id::Id,
    journal::{Fact, Pass},
    process::Liveness,
    store::{handle::Store, operation::Act},
    stored::Durable,
    typed::Refused,
};

impl Store {
    /// Loads an execution that is in doubt.
    ///
    /// # Errors
    ///
    /// The errors of [`load`](Self::load), and [`StateError::NotInDoubt`].
    pub async fn in_doubt(&self, id: Id) -> Result<InDoubt, StateError> {
        let any: AnyExecution = self.load(id).await?;
        InDoubt::narrow(any).map_err(|_| StateError::NotInDoubt { id })
    }

    /// Fences the worker of a running execution, on request, and puts the execution in doubt: its
    /// permit is no longer valid, and its answer is late evidence.
    ///
    /// This stops a worker that has not started its call. A worker inside its call may still finish
    /// the call, so the execution stays in doubt until the outcome is known. An execution that
    /// waits for the report of its service is put in doubt before its limit; the report still
    /// settles it.
    ///
    /// # Errors
    ///
    /// [`StateError::NotRunning`] if nothing is being called, and those of [`load`](Self::load).
    pub async fn fence(
        &self,
        id: Id,
        reason: &str,
        by: &GraphRunner,
    ) -> Result<InDoubt, StateError> {
        loop {
            let reason = bounded(reason.to_owned());
            let mut doubt = match self.load::<AnyExecution>(id).await? {
                AnyExecution::Running(running) if running.context().is_irreversible() => {
                    let liveness = self.liveness(&running).await?;
                    self.park(running, &reason, liveness, by)
                }
                AnyExecution::Waiting(waiting) if Progress::of(&waiting).awaits_report() => {
                    self.unreported(waiting, &reason, by)
                }
                other => {
                    let found = other.status().definition().label.as_ref();
                    return Err(StateError::NotRunning { id, found: found.to_owned() });
                }
            };
            let batch = self.batch().act(self.act.clone()).commit(doubt.machine_mut());
            // If its worker answered, or another process parked it, the next round reloads.
            if let Some(parked) = unless_overtaken(id, batch.write().await)? {
                return parked.map(|()| doubt);
            }
        }
    }

    /// Settles an execution in doubt: a person found out that the action took effect. The execution
    /// becomes COMPLETED.
    ///
    /// # Errors
    ///
    /// The unchanged execution, with [`CommitError::Conflict`](crate::store::CommitError::Conflict)
    /// if it was settled differently, or late evidence arrived: load the execution again and check.
    pub async fn confirm_applied(
        &self,
        doubt: InDoubt,
        receipt: &str,
        by: &Human,
    ) -> Result<Execution<Completed>, Refused<InDoubt, EffectError>> {
        let act = Act::new(by, CONFIRM_APPLIED, &[doubt.id()], receipt);
        let receipt = bounded_receipt(receipt.to_owned());
        let settled = self.applied(doubt, receipt, who(by), Some(act.clone())).await;
        self.log_refusal([act], settled).await
    }

    /// Settles an execution in doubt: a person found out that the action did not take effect. The
    /// execution becomes FAILED, and its key is free for another attempt.
    ///
    /// # Errors
    ///
    /// The unchanged execution, with [`EffectError::WorkerAlive`] and
    /// [`EffectError::WorkerUnknown`] if the worker has not ended, and [`EffectError::NotSettled`]
    /// if the call can still take effect: wait, or
    /// [`override_not_applied`](Self::override_not_applied).
    /// [`CommitError::Refused`](crate::store::CommitError::Refused) if a receipt says that it took
    /// effect. [`CommitError::Conflict`](crate::store::CommitError::Conflict) if it was settled
    /// otherwise.
    pub async fn confirm_not_applied(
        &self,
        doubt: InDoubt,
        reason: &str,
        by: &Human,
    ) -> Result<Execution<Failed>, Refused<InDoubt, EffectError>> {
        // The person looked before this call, however long the store takes for it.
        let act = Act::new(by, CONFIRM_NOT_APPLIED, &[doubt.id()], reason);
        let settled = async {
            let doubt = self.may_be_freed(doubt, self.now()).await?;
            let reason = bounded(reason.to_owned());
            self.not_applied(doubt, reason.into(), who(by), false, Some(act.clone())).await
        };
        let settled = settled.await;
        self.log_refusal([act], settled).await
    }

    /// Settles an execution as not applied without proof: a person takes responsibility, by name,
    /// for freeing the key although the worker may be alive or the call may not have settled. If
    /// the action takes effect after all, every view reports it. A receipt cannot be overridden.
    ///
    /// # Errors
    ///
    /// The unchanged execution, with [`CommitError::Refused`](crate::store::CommitError::Refused)
    /// if a receipt says that it took effect, and
    /// [`CommitError::Conflict`](crate::store::CommitError::Conflict) if it was settled otherwise.
    pub async fn override_not_applied(
        &self,
        doubt: InDoubt,
        reason: &str,
        by: &Human,
    ) -> Result<Execution<Failed>, Refused<InDoubt, EffectError>> {
        // A receipt that this process has outranks the person: then there is a conflict.
        let act = Act::new(by, OVERRIDE_NOT_APPLIED, &[doubt.id()], reason);
        let settled = match self.write_answers(doubt.id()).await {
            Ok(()) => {
                let reason = bounded(reason.to_owned());
                self.not_applied(doubt, reason.into(), who(by), true, Some(act.clone())).await
            }
            Err(error) => Err(Refused::new(doubt, error)),
        };
        self.log_refusal([act], settled).await
    }

    /// Asks the service whether the action took effect ([`Perform::find`]), for at most the timeout
    /// of the contract, and settles the execution by its answer. "Not found" counts only after the
    /// worker has ended and the call has settled; if the answer is not conclusive, the execution
    /// stays in doubt.
    ///
    /// # Errors
    ///
    /// See [`confirm_not_applied`](Self::confirm_not_applied). [`EffectError::Contract`] if this
    /// program cannot read the arguments; the service is then not asked.
    pub fn ask_service<'a, T: Callable>(
        &'a self,
        doubt: InDoubt,
        service: &'a impl Perform<T>,
        by: &'a ToolNode,
    ) -> BoxFuture<'a, Result<Settled, Refused<InDoubt, EffectError>>> {
        Box::pin(async move {
            let span = spans::ask_service(&doubt);
            spans::record_query(span, self.query_service::<T>(doubt, service, by)).await
        })
    }

    async fn query_service<T: Callable>(
        &self,
        doubt: InDoubt,
        service: &impl Perform<T>,
        by: &ToolNode,
    ) -> Result<Settled, Refused<InDoubt, EffectError>> {
        let (id, contract) = (doubt.id(), doubt.context());
        let arguments = match T::__read(contract.action(), contract.effect()) {
            Ok(arguments) => arguments,
            Err(source) => return Err(Refused::new(doubt, EffectError::Contract { id, source })),
        };
        let attempt = Attempt::new(arguments, id, contract);
        // "Not found" must have been true after the call had settled, so check before asking.
        let (doubt, refused) = match self.may_be_freed(doubt, self.now()).await {
            Ok(doubt) => (doubt, None),
            Err(refused) => (refused.machine, Some(refused.reason)),
        };
        let answer = std::panic::AssertUnwindSafe(async { service.find(&attempt).await });
        let answer = std::pin::pin!(futures_util::FutureExt::catch_unwind(answer));
        let answer = match doubt.context().timeout() {
            None => answer.await,
            Some(limit) => match select(answer, self.inner.clock.sleep(limit)).await {
                Either::Left((answer, _)) => answer,
                // A missing answer proves nothing.
                Either::Right(_) => return Ok(Settled::InDoubt(doubt)),
            },
        };
        match Answered::of(answer).evidence {
            Evidence::Applied(receipt) => {
                self.applied(doubt, receipt, who(by), None).await.map(Settled::Completed)
            }
            Evidence::NotApplied(reason) => {
                if let Some(refused) = refused {
                    return Err(Refused::new(doubt, refused));
                }
                let failed = self.not_applied(doubt, reason, who(by), false, None).await;
                failed.map(Settled::Failed)
            }
            Evidence::Unknown(_) => Ok(Settled::InDoubt(doubt)),
        }
    }

    async fn applied(
        &self,
        doubt: InDoubt,
        receipt: String,
        by: Who<'_>,
        act: Option<Act>,
    ) -> Result<Execution<Completed>, Refused<InDoubt, EffectError>> {
        let (at, reason) = (self.now(), receipt.clone());
        let fact = CallFact::Confirmed { applied: true, reason, at, overridden: false };
        self.settle_doubt(doubt, (by, fact), act, |doubt| doubt.applied(receipt)).await
    }

    async fn not_applied(
        &self,
        doubt: InDoubt,
        refusal: Refusal,
        by: Who<'_>,
        overridden: bool,
        act: Option<Act>,
    ) -> Result<Execution<Failed>, Refused<InDoubt, EffectError>> {
        let (at, reason) = (self.now(), refusal.message.clone());
        let fact = CallFact::Confirmed { applied: false, reason, at, overridden };
        self.settle_doubt(doubt, (by, fact), act, |doubt| doubt.not_applied(refusal)).await
    }

    /// The refusal that came late. The summary has the beginning of its text only.
    pub(super) async fn late_refusal(&self, id: Id, progress: &Progress) -> Option<Refusal> {
        let known = progress.refused.as_deref()?;
        let evidence = self.evidence_of(id).await.unwrap_or_default();
        let refusal = evidence.into_iter().find_map(|(_, evidence)| match evidence {
            Evidence::NotApplied(refusal) => Some(refusal),
            _ => None,
        });
        Some(refusal.unwrap_or_else(|| known.into()))
    }

    /// Settles an execution by the late answer of its own worker. `None` if no answer
    /// proves anything.
    pub(super) async fn by_late_evidence(
        &self,
        doubt: InDoubt,
    ) -> Result<Result<AnyExecution, InDoubt>, Refused<InDoubt, EffectError>> {
        let (id, progress) = (doubt.id(), doubt.progress());
        let Some((_, epoch)) = progress.permit() else { return Ok(Err(doubt)) };
        let fact = |evidence| {
            (who(&GraphRunner::STORE), CallFact::Evidence { epoch, evidence, late: false })
        };
        if progress.applied {
            let evidence = self.evidence_of(id).await.unwrap_or_default();
            let receipt = evidence.into_iter().find_map(|(_, evidence)| match evidence {
                Evidence::Applied(receipt) => Some(receipt),
                _ => None,
            });
            // The summary has the beginning only.
            let receipt = receipt.or_else(|| progress.receipt.clone()).unwrap_or_default();
            let fact = fact(Evidence::Applied(receipt.clone()));
            let done = self.settle_doubt(doubt, fact, None, |doubt| doubt.applied(receipt)).await?;
            return Ok(Ok(done.into()));
        }
        if !progress.is_refused() {
            return Ok(Err(doubt));
        }
        let Some(refusal) = self.late_refusal(id, &progress).await else { return Ok(Err(doubt)) };
        let fact = fact(Evidence::NotApplied(refusal.clone()));
        let failed =
            self.settle_doubt(doubt, fact, None, |doubt| doubt.not_applied(refusal)).await?;
        Ok(Ok(failed.into()))
    }

    async fn settle_doubt<M: Durable>(
        &self,
        doubt: InDoubt,
        (by, fact): (Who<'_>, CallFact),
        act: Option<Act>,
        settle: impl FnOnce(InDoubt) -> M,
    ) -> Result<M, Refused<InDoubt, EffectError>> {
        let mut next = doubt.fork();
        append(next.machine_mut(), by, fact);
        Self { act, ..self.clone() }.advance(doubt, settle(next)).await
    }

    /// Finds out whether the call of an execution in doubt can still take effect. That it has ended
    /// is recorded, because the proof, the lock file, is temporary; and that it was cut off,
    /// because only its own process knows.
    pub(super) async fn observe(
        &self,
        mut doubt: InDoubt,
    ) -> Result<(InDoubt, Liveness), Refused<InDoubt, EffectError>> {
        if doubt.progress().ended_at.is_some() {
            return Ok((doubt, Liveness::Ended));
        }
        let id = doubt.id();
        let liveness = match self.liveness(doubt.machine_mut()).await {
            Ok(liveness) => liveness,
            Err(error) => return Err(Refused::new(doubt, EffectError::unread(id, error))),
        };
        let Some(found) = doubt.progress().found(liveness, self.now()) else {
            return Ok((doubt, liveness));
        };
        let mut next = doubt.fork();
        append(next.machine_mut(), who(&GraphRunner::STORE), found);
        let written = self.batch().commit(next.machine_mut()).write().await;
        written.map(|()| (next, liveness)).map_err(|error| Refused::new(doubt, error))
    }

    /// Fences the worker of a running execution, and puts the execution in doubt.
    pub(super) fn park(
        &self,
        mut running: Execution<crate::contract::execution::Running>,
        reason: &str,
        worker: Liveness,
        by: &GraphRunner,
    ) -> InDoubt {
        let journal = running.__journal_mut(Pass::new());
        // The evidence is that of the permit, and the epoch rises after it.
        let epoch = journal.epoch();
        let fenced = Fact::Fenced { epoch: epoch + 1, reason: reason.to_owned() };
        journal.append(Some(who(by)), fenced);
        InDoubt::park(running, epoch, reason, (worker, self.now()), by)
    }

    /// The known liveness of the worker that holds the permit of an execution.
    pub(crate) fn liveness(
        &self,
        execution: &dyn Durable,
    ) -> impl Future<Output = Result<Liveness, StateError>> + Send + use<> {
        let progress = crate::contract::Progress::of(execution);
        let name = progress.permit().map(|(name, _)| name.to_owned());
        let (store, id) = (self.clone(), execution.journal().id());
        async move {
            let Some(name) = name else { return Ok(Liveness::Unknown) };
            let calls = Arc::clone(&store.effects().calls);
            let liveness = store.run(move || calls.liveness(&name, id)).await?;
            liveness.map_err(|error| StateError::Lock(error.to_string()))
        }
    }
}
