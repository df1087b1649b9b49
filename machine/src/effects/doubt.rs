use futures_util::future::{Either, select};

use crate::{
    __private::{Who, who},
    actor::{GraphRunner, Human, ToolNode},
    clock::Millis,
    contract::{
        Answered, AnyExecution, Attempt, BoxFuture, CallFact, Callable, Evidence, Execution,
        InDoubt, Liveness, Perform, Progress, Settled, bounded,
        execution::{Completed, Failed},
        settled_at,
    },
    effects::{act::Act, batch::Batch},
    id::Id,
    journal::{Fact, Pass},
    store::{
        error::{CommitError, LoadError},
        handle::Store,
    },
    stored::Durable,
    telemetry,
    typed::Refused,
};

impl Store {
    /// Loads an execution that is in doubt.
    ///
    /// # Errors
    ///
    /// The errors of [`load`](Self::load), and [`LoadError::NotInDoubt`].
    pub async fn in_doubt(&self, id: Id) -> Result<InDoubt, LoadError> {
        let any: AnyExecution = self.load(id).await?;
        InDoubt::narrow(any).map_err(|_| LoadError::NotInDoubt { id })
    }

    /// Shuts out the worker of a running execution, on request, and puts the execution in doubt: its
    /// permit is no longer valid, and what it answers is late evidence.
    ///
    /// This stops a worker that has not started its call. One that is in its call may still finish
    /// it, so the execution stays in doubt until that is known. An execution that waits for the report of its
    /// service is put in doubt before its limit; the report still settles it.
    ///
    /// # Errors
    ///
    /// [`LoadError::NotRunning`] if nothing is being called, and those of [`load`](Self::load).
    pub async fn fence(
        &self,
        id: Id,
        reason: &str,
        by: &GraphRunner,
    ) -> Result<InDoubt, LoadError> {
        self.fence_as(id, reason, by, None).await
    }

    /// Shuts the worker out for a person. The caller logs a refusal.
    pub(crate) async fn fence_as(
        &self,
        id: Id,
        reason: &str,
        by: &GraphRunner,
        act: Option<Act>,
    ) -> Result<InDoubt, LoadError> {
        loop {
            let reason = bounded(reason.to_owned());
            let mut doubt = match self.load::<AnyExecution>(id).await? {
                AnyExecution::Running(running) if running.context().is_irreversible() => {
                    let liveness = self.liveness(&running).await?;
                    self.park(running, &reason, liveness, by)
                }
                AnyExecution::Waiting(waiting) if Progress::read(&waiting).awaits_report() => {
                    self.unreported(waiting, &reason, by)
                }
                other => {
                    let found = other.status().definition().label.as_ref();
                    return Err(LoadError::NotRunning { id, found: found.to_owned() });
                }
            };
            let batch = act.iter().cloned().fold(self.batch(), Batch::act);
            match batch.commit(doubt.machine_mut()).write_events().await {
                Ok(_) => return Ok(doubt),
                // Its worker answered, or another process parked it: look again.
                Err(CommitError::Conflict { .. }) => {}
                Err(CommitError::Unavailable(error)) => return Err(error.into()),
                Err(error) => return Err(LoadError::NotParked { id, source: Box::new(error) }),
            }
        }
    }

    /// Settles an execution in doubt: a person found out that the action took effect. The execution
    /// becomes COMPLETED.
    ///
    /// # Errors
    ///
    /// The unchanged execution, with [`CommitError::Conflict`] if it was settled otherwise, or late
    /// evidence arrived: load it again and check.
    pub async fn confirm_applied(
        &self,
        doubt: InDoubt,
        receipt: &str,
        by: &Human,
    ) -> Result<Execution<Completed>, Refused<InDoubt, CommitError>> {
        let act = Act::new(by, "confirm applied", &[doubt.execution().id()], receipt);
        self.applied(doubt, bounded(receipt.to_owned()), who(by), Some(act)).await
    }

    /// Settles an execution in doubt: a person found out that the action did not take effect. The
    /// execution becomes FAILED, and its key is free for another attempt.
    ///
    /// # Errors
    ///
    /// The unchanged execution, with [`CommitError::WorkerAlive`] and [`CommitError::WorkerUnknown`]
    /// if the worker has not ended, and [`CommitError::NotSettled`] if the call can still take effect:
    /// wait, or [`override_not_applied`](Self::override_not_applied). [`CommitError::Refused`] if a
    /// receipt says that it took effect. [`CommitError::Conflict`] if it was settled otherwise.
    pub async fn confirm_not_applied(
        &self,
        doubt: InDoubt,
        reason: &str,
        by: &Human,
    ) -> Result<Execution<Failed>, Refused<InDoubt, CommitError>> {
        // The person looked before this call, however long the store takes for it.
        let act = Act::new(by, "confirm not applied", &[doubt.execution().id()], reason);
        match self.may_be_freed(doubt, self.now()).await {
            Ok(doubt) => {
                let reason = bounded(reason.to_owned());
                self.not_applied(doubt, reason, who(by), false, Some(act)).await
            }
            Err(refused) => {
                self.refuse_all(vec![act], &refused.reason).await;
                Err(refused)
            }
        }
    }

    /// Settles an execution as not applied before that can be known: a person takes responsibility, by name,
    /// for freeing the key although the worker may be alive or the call may not have settled. If the action
    /// takes effect after all, every view says so. A receipt cannot be overridden.
    ///
    /// # Errors
    ///
    /// The unchanged execution, with [`CommitError::Refused`] if a receipt says that it took effect,
    /// and [`CommitError::Conflict`] if it was settled otherwise.
    pub async fn override_not_applied(
        &self,
        doubt: InDoubt,
        reason: &str,
        by: &Human,
    ) -> Result<Execution<Failed>, Refused<InDoubt, CommitError>> {
        // A receipt that this process has outranks the person: then there is a conflict.
        let act = Act::new(by, "override not applied", &[doubt.execution().id()], reason);
        if let Err(error) = self.write_answers(doubt.execution().id()).await {
            self.refuse_all(vec![act], &error).await;
            return Err(Refused::new(doubt, error));
        }
        self.not_applied(doubt, bounded(reason.to_owned()), who(by), true, Some(act)).await
    }

    /// Asks the service whether the action took effect ([`Perform::find`]), for at most the timeout of
    /// the contract, and settles the execution by its answer. "Not found" counts only after the worker has
    /// ended and the call has settled; if the answer is not conclusive, the execution stays in doubt.
    ///
    /// # Errors
    ///
    /// See [`confirm_not_applied`](Self::confirm_not_applied).
    pub fn ask_service<'a, T: Callable>(
        &'a self,
        doubt: InDoubt,
        service: &'a impl Perform<T>,
        by: &'a ToolNode,
    ) -> BoxFuture<'a, Result<Settled, Refused<InDoubt, CommitError>>> {
        Box::pin(async move {
            let span = telemetry::ask_service(doubt.execution());
            telemetry::asked(span, self.service_asked::<T>(doubt, service, by)).await
        })
    }

    async fn service_asked<T: Callable>(
        &self,
        doubt: InDoubt,
        service: &impl Perform<T>,
        by: &ToolNode,
    ) -> Result<Settled, Refused<InDoubt, CommitError>> {
        let (id, contract) = (doubt.execution().id(), doubt.execution().context());
        let arguments = match T::__read(contract) {
            Ok(arguments) => arguments,
            Err(error) => {
                return Err(Refused::new(doubt, CommitError::Contract { id, source: error }));
            }
        };
        let attempt = Attempt::new(arguments, id, contract);
        // "Not found" must have been true after the call had settled, so check before asking.
        let settled = self.may_be_freed(doubt, self.now()).await;
        let (doubt, refused) = match settled {
            Ok(doubt) => (doubt, None),
            Err(refused) => (refused.machine, Some(refused.reason)),
        };
        let timeout = doubt.execution().context().timeout();
        let answer = std::panic::AssertUnwindSafe(async { service.find(&attempt).await });
        let answer = std::pin::pin!(futures_util::FutureExt::catch_unwind(answer));
        let answer = match timeout {
            None => answer.await,
            Some(limit) => match select(answer, self.sleep(limit)).await {
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
    ) -> Result<Execution<Completed>, Refused<InDoubt, CommitError>> {
        let fact = CallFact::Confirmed {
            applied: true,
            reason: receipt.clone(),
            at: self.now(),
            overridden: false,
        };
        self.settle_doubt(doubt, (by, fact), act, |doubt| doubt.applied(receipt)).await
    }

    async fn not_applied(
        &self,
        doubt: InDoubt,
        reason: String,
        by: Who<'_>,
        overridden: bool,
        act: Option<Act>,
    ) -> Result<Execution<Failed>, Refused<InDoubt, CommitError>> {
        let (at, text) = (self.now(), reason.clone());
        let fact = CallFact::Confirmed { applied: false, reason, at, overridden };
        self.settle_doubt(doubt, (by, fact), act, |doubt| doubt.not_applied(text)).await
    }

    /// Settles an execution by what the worker itself said, late. `None` if it said nothing that
    /// proves anything.
    pub(crate) async fn by_late_evidence(
        &self,
        doubt: InDoubt,
    ) -> Result<Result<AnyExecution, InDoubt>, Refused<InDoubt, CommitError>> {
        let progress = doubt.progress();
        let Some((_, epoch)) = progress.permit() else { return Ok(Err(doubt)) };
        let by = who(&GraphRunner::STORE);
        if progress.is_applied() {
            // The summary has the beginning only.
            let known = self.history(doubt.execution().id()).await.ok().and_then(|history| {
                history.entries.iter().filter_map(CallFact::of).find_map(|fact| match fact {
                    CallFact::Evidence { evidence: Evidence::Applied(receipt), .. } => {
                        Some(receipt)
                    }
                    _ => None,
                })
            });
            let receipt =
                known.unwrap_or_else(|| progress.receipt().unwrap_or_default().to_owned());
            let evidence = Evidence::Applied(receipt.clone());
            let fact = CallFact::Evidence { epoch, evidence, late: false };
            let done =
                self.settle_doubt(doubt, (by, fact), None, |doubt| doubt.applied(receipt)).await?;
            return Ok(Ok(done.into()));
        }
        let refused = progress.refused().filter(|_| progress.is_refused());
        let Some(reason) = refused.map(str::to_owned) else { return Ok(Err(doubt)) };
        let evidence = Evidence::NotApplied(reason.clone());
        let fact = CallFact::Evidence { epoch, evidence, late: false };
        let failed =
            self.settle_doubt(doubt, (by, fact), None, |doubt| doubt.not_applied(reason)).await?;
        Ok(Ok(failed.into()))
    }

    async fn settle_doubt<M: Durable>(
        &self,
        doubt: InDoubt,
        (by, fact): (Who<'_>, CallFact),
        act: Option<Act>,
        settle: impl FnOnce(InDoubt) -> M,
    ) -> Result<M, Refused<InDoubt, CommitError>> {
        let mut next = doubt.fork();
        next.append(by, fact);
        self.advance(doubt, settle(next), act).await
    }

    /// Checks that "it did not take effect" could be known at this time: the worker had ended, and the call
    /// had settled.
    async fn may_be_freed(
        &self,
        doubt: InDoubt,
        known_at: Millis,
    ) -> Result<InDoubt, Refused<InDoubt, CommitError>> {
        let id = doubt.execution().id();
        if doubt.progress().is_applied() || doubt.progress().is_refused() {
            return Ok(doubt);
        }
        if let Err(error) = self.write_answers(id).await {
            return Err(Refused::new(doubt, error));
        }
        let ended_at = doubt.progress().ended_at();
        let doubt = match self.observe(doubt).await {
            Ok((doubt, Liveness::Ended)) => doubt,
            Ok((doubt, Liveness::Alive | Liveness::CutOff)) => {
                let progress = doubt.progress();
                let process = progress.process().cloned();
                // Another process sees only that the process is alive, and what that one has recorded.
                let reason = match progress.worker() {
                    Liveness::CutOff => CommitError::CutOff { id, process },
                    _ => CommitError::WorkerAlive { id, process },
                };
                return Err(Refused::new(doubt, reason));
            }
            Ok((doubt, Liveness::Unknown)) => {
                return Err(Refused::new(doubt, CommitError::WorkerUnknown { id }));
            }
            Err(refused) => return Err(refused),
        };
        let settling_time = doubt.execution().context().settling_time();
        // If the end was observed just now, the call had not settled before.
        let until = settled_at(ended_at.unwrap_or(known_at), settling_time);
        if known_at < until {
            let left_ms = until.saturating_sub(self.now()).max(0).unsigned_abs();
            return Err(Refused::new(doubt, CommitError::NotSettled { id, left_ms }));
        }
        Ok(doubt)
    }

    /// Finds out whether the call of an execution in doubt can still take effect. That it has ended is
    /// recorded, because the proof, the lock file, is temporary; and that it was cut off, because only
    /// its own process knows.
    pub(crate) async fn observe(
        &self,
        mut doubt: InDoubt,
    ) -> Result<(InDoubt, Liveness), Refused<InDoubt, CommitError>> {
        if doubt.progress().ended_at().is_some() {
            return Ok((doubt, Liveness::Ended));
        }
        let id = doubt.execution().id();
        let liveness = match self.liveness(doubt.machine_mut()).await {
            Ok(liveness) => liveness,
            Err(LoadError::Unavailable(error)) => return Err(Refused::new(doubt, error.into())),
            Err(error) => {
                let reason = CommitError::Gate { id, source: Box::new(error) };
                return Err(Refused::new(doubt, reason));
            }
        };
        let at = self.now();
        let found = match liveness {
            Liveness::Ended => Some(CallFact::WorkerEnded { at }),
            Liveness::CutOff if doubt.progress().worker() != liveness => {
                Some(CallFact::CutOff { at })
            }
            _ => None,
        };
        let Some(found) = found else { return Ok((doubt, liveness)) };
        let mut next = doubt.fork();
        next.append(who(&GraphRunner::STORE), found);
        match self.commit(next.machine_mut()).await {
            Ok(()) => Ok((next, liveness)),
            Err(error) => Err(Refused::new(doubt, error)),
        }
    }

    /// Fences the worker of a running execution, and puts the execution in doubt.
    pub(crate) fn park(
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
    ) -> impl Future<Output = Result<Liveness, LoadError>> + Send + use<> {
        let progress = crate::contract::Progress::read(execution);
        let name = progress.permit().map(|(name, _)| name.to_owned());
        let (store, id) = (self.clone(), execution.journal().id());
        async move {
            let Some(name) = name else { return Ok(Liveness::Unknown) };
            let worker = store.inner.worker.clone();
            let liveness = store.run(move || worker.liveness(&name, id)).await?;
            liveness.map_err(|error| LoadError::Lock(error.to_string()))
        }
    }
}
