use std::collections::HashSet;

use tracing::Instrument;

use crate::{
    actor::GraphRunner,
    actor::who::who,
    contract::{
        AnyExecution, Execution, InDoubt, Progress,
        execution::{self, Running, Status},
    },
    effects::{
        error::{EffectError, StateError},
        spans,
    },
    id::Id,
    language::Phrase,
    process::Liveness,
    store::{
        backend::Attempts,
        error::{LoadError, Unavailable},
        handle::Store,
        read::query::Query,
        write::attempt::CONTRACTS,
    },
    telemetry,
    typed::Refused,
};

/// The result of [`Store::recover`].
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Recovered {
    /// The executions in doubt, in the order in which they were begun.
    pub in_doubt: Vec<InDoubt>,
    /// Executions that were in doubt and whose worker has answered late: settled by its evidence.
    pub settled: Vec<AnyExecution>,
    /// Idempotent calls whose worker ended, or whose timeout has passed: [`Store::perform_again`]
    /// runs them again.
    pub interrupted: Vec<Execution<Running>>,
    /// The unreadable executions, with the reason. The id is `None` if it cannot be read either.
    pub failed: Vec<(Option<Id>, StateError)>,
}

impl Store {
    /// Finds the executions whose worker ended or timed out. Call it when a program starts, and
    /// from time to time.
    ///
    /// An irreversible execution without an answer is put in doubt if its worker has ended or may
    /// have ended, if its timeout has passed, or if its service has accepted the call and has not
    /// reported in time. The worker is fenced first (epoch + 1), so that a late answer changes no
    /// state. Late evidence settles an execution in doubt. Returns all executions in doubt,
    /// including those parked earlier. An unreadable execution does not prevent the recovery of
    /// others.
    ///
    /// # Errors
    ///
    /// [`EffectError::Unavailable`] if the storage cannot do it now. Executions parked until then
    /// stay parked.
    pub async fn recover(&self) -> Result<Recovered, EffectError> {
        let span = telemetry::Recover {}.span();
        let result = self.recovered().instrument(span.clone()).await;
        match &result {
            Ok(recovered) => spans::recovered(&span, recovered),
            Err(error) => telemetry::failed(&span, error.class()),
        }
        result
    }

    async fn recovered(&self) -> Result<Recovered, EffectError> {
        let mut recovered = Recovered::default();
        // Before the attempts are read: what these workers wrote is among them.
        let worker = self.inner.worker.clone();
        let ended = self.run(move || worker.ended()).await?;
        // Their lock files are the only proof that they have ended.
        let mut unobserved = HashSet::new();
        for candidate in self.inner.backend.attempts(Attempts::Unanswered).await? {
            let candidate = match candidate {
                Ok(candidate) if candidate.space == CONTRACTS => candidate,
                Ok(_) => continue,
                Err(broken) => {
                    recovered.failed.push((broken.id, LoadError::from(broken).into()));
                    continue;
                }
            };
            match self.take_over(candidate.by).await? {
                Ok(UnansweredCall::InDoubt(doubt)) => {
                    if doubt.progress().ended_at.is_none() {
                        unobserved.extend(candidate.worker.clone());
                    }
                    recovered.in_doubt.push(doubt);
                }
                Ok(UnansweredCall::Settled(settled)) => recovered.settled.push(settled),
                Ok(UnansweredCall::Running) => unobserved.extend(candidate.worker.clone()),
                Ok(UnansweredCall::Other) => {}
                Err(error) => {
                    unobserved.extend(candidate.worker.clone());
                    recovered.failed.push((Some(candidate.by), error));
                }
            }
        }
        self.find_interrupted(&mut recovered, &mut unobserved).await?;
        let worker = self.inner.worker.clone();
        let swept = ended.into_iter().filter(move |name| !unobserved.contains(name));
        self.run(move || worker.remove(swept)).await?;
        Ok(recovered)
    }

    /// Parks an execution if its worker is gone or overdue, or if its service has not reported in
    /// time, and settles it if one of them answered late.
    pub(crate) async fn take_over(
        &self,
        id: Id,
    ) -> Result<Result<UnansweredCall, StateError>, EffectError> {
        loop {
            self.write_answers(id).await?;
            let running = match self.load::<AnyExecution>(id).await {
                Ok(AnyExecution::Running(running)) => running,
                // Parked before, or settled in the meantime.
                Ok(AnyExecution::Waiting(waiting)) if Progress::of(&waiting).awaits_report() => {
                    if !self.is_overdue(&Progress::of(&waiting)) {
                        return Ok(Ok(UnansweredCall::Other));
                    }
                    let reason = "its service accepted it but did not report in time";
                    let mut doubt = self.unreported(waiting, reason, &GraphRunner::STORE);
                    let parked = self.batch().commit(doubt.machine_mut()).write().await;
                    match unless_overtaken(id, parked)? {
                        Some(parked) => return Ok(parked.map(|()| UnansweredCall::InDoubt(doubt))),
                        // It reported, or another process parked it: retry.
                        None => continue,
                    }
                }
                Ok(other) => match InDoubt::narrow(other) {
                    Ok(doubt) => match self.look_again(doubt).await? {
                        Some(found) => return Ok(found),
                        None => continue,
                    },
                    Err(_) => return Ok(Ok(UnansweredCall::Other)),
                },
                Err(LoadError::Unavailable(error)) => return Err(error.into()),
                Err(error) => return Ok(Err(error.into())),
            };
            let progress = Progress::of(&running);
            let overdue = self.is_overdue(&progress);
            let liveness = match self.liveness(&running).await {
                Ok(liveness) => liveness,
                Err(StateError::Load(LoadError::Unavailable(error))) => return Err(error.into()),
                Err(error) => return Ok(Err(error)),
            };
            // Evidence that came although the future of the call was gone.
            let is_answered = progress.applied || progress.is_refused();
            if liveness == Liveness::Alive && !overdue && !is_answered {
                return Ok(Ok(UnansweredCall::Running));
            }
            let worker = progress.permit().map(|(worker, _)| worker);
            let is_own = worker == Some(self.inner.worker.name());
            let reason = match liveness {
                _ if is_answered => Phrase::AnsweredAfterCutOff,
                Liveness::Alive => Phrase::TimedOut,
                Liveness::CutOff => Phrase::CutOffBeforeAnswer,
                Liveness::Ended if is_own => Phrase::OutcomeDropped,
                Liveness::Ended => Phrase::ProcessEnded,
                Liveness::Unknown => Phrase::LockMissing,
            };
            let reason = reason.english();
            let mut doubt = self.park(running, reason, liveness, &GraphRunner::STORE);
            let parked = self.batch().commit(doubt.machine_mut()).write().await;
            match unless_overtaken(id, parked)? {
                // Settled by it in the next round.
                Some(Ok(())) if is_answered || doubt.progress().is_refused() => {}
                Some(parked) => return Ok(parked.map(|()| UnansweredCall::InDoubt(doubt))),
                // Its worker answered, or another process parked it: retry.
                None => {}
            }
        }
    }

    /// Writes the answers of this process's calls that are not on disk yet.
    pub(super) async fn write_answers(&self, id: Id) -> Result<(), EffectError> {
        let unwritten = self.effects().calls.unwritten(id);
        if unwritten.is_empty() {
            return Ok(());
        }
        // `recover` reports one that cannot be read.
        let Some(execution) = self.readable(id).await? else { return Ok(()) };
        let epoch = Progress::of(&execution).permit().map_or(0, |(_, epoch)| epoch);
        for (call, evidence) in unwritten {
            self.keep_late(id, epoch, &evidence, &call, who(&GraphRunner::STORE)).await?;
        }
        Ok(())
    }

    /// The current state of an execution in doubt: its worker may have answered, or ended. `None`
    /// if another commit came first.
    async fn look_again(
        &self,
        doubt: InDoubt,
    ) -> Result<Option<Result<UnansweredCall, StateError>>, EffectError> {
        let id = doubt.id();
        let looked = async {
            let doubt = match self.by_late_evidence(doubt).await? {
                Ok(settled) => return Ok(UnansweredCall::Settled(settled)),
                Err(doubt) => doubt,
            };
            let (doubt, _) = self.observe(doubt).await?;
            // A refusal that the service reported counts when the call has ended.
            Ok::<_, Refused<InDoubt, EffectError>>(match self.by_late_evidence(doubt).await? {
                Ok(settled) => UnansweredCall::Settled(settled),
                Err(doubt) => UnansweredCall::InDoubt(doubt),
            })
        };
        Ok(unless_overtaken(id, looked.await.map_err(|refused| refused.reason))?)
    }

    pub(crate) fn is_overdue(&self, progress: &Progress) -> bool {
        progress.unanswered().is_some_and(|permit| permit.expires_at < self.now())
    }

    /// Idempotent calls have no attempt: they hold no key.
    async fn find_interrupted(
        &self,
        recovered: &mut Recovered,
        unobserved: &mut HashSet<String>,
    ) -> Result<(), EffectError> {
        let name = execution::DEFINITION.name.as_ref();
        let mut next = Some(Query::new().machine(name).status(Status::Running.as_str()).live());
        while let Some(query) = next {
            let page = match self.load_all::<AnyExecution>(&query).await {
                Ok(page) => page,
                Err(LoadError::Unavailable(error)) => return Err(error.into()),
                Err(error) => {
                    recovered.failed.push((None, error.into()));
                    return Ok(());
                }
            };
            for found in page.items {
                // One that cannot be read was reported above, if it is irreversible.
                let Ok(AnyExecution::Running(running)) = found else { continue };
                let progress = Progress::of(&running);
                let Some((worker, _)) = progress.permit() else { continue };
                if running.context().is_irreversible() {
                    continue;
                }
                match self.liveness(&running).await {
                    Ok(Liveness::Alive) if !self.is_overdue(&progress) => {
                        unobserved.insert(worker.to_owned());
                    }
                    Ok(Liveness::Alive) => {
                        unobserved.insert(worker.to_owned());
                        recovered.interrupted.push(running);
                    }
                    Ok(_) => recovered.interrupted.push(running),
                    Err(error) => recovered.failed.push((Some(running.id()), error)),
                }
            }
            next = page.next.map(|next| query.after(next));
        }
        Ok(())
    }

    /// Removes the lock files of ended workers that are no longer referenced.
    pub(crate) async fn remove_lock_files(&self) -> Result<(), Unavailable> {
        let worker = self.inner.worker.clone();
        // Before anything is read: what these workers wrote is among it.
        let ended = self.run(move || worker.ended()).await?;
        if ended.is_empty() {
            return Ok(());
        }
        let mut needed: HashSet<String> =
            self.inner.backend.lease_holders().await?.into_iter().collect();
        let attempts = self.inner.backend.attempts(Attempts::Unanswered).await?;
        needed.extend(attempts.into_iter().flatten().filter_map(|attempt| attempt.worker));
        let name = execution::DEFINITION.name.as_ref();
        let mut next = Some(Query::new().machine(name).status(Status::Running.as_str()).live());
        while let Some(query) = next {
            let page = LoadError::readable(self.load_all::<AnyExecution>(&query).await)?;
            let Some(page) = page else { return Ok(()) };
            for running in page.items.iter().flatten() {
                needed.extend(Progress::of(running).permit().map(|(worker, _)| worker.to_owned()));
            }
            next = page.next.map(|next| query.after(next));
        }
        let worker = self.inner.worker.clone();
        let unneeded = ended.into_iter().filter(move |name| !needed.contains(name));
        self.run(move || worker.remove(unneeded)).await
    }
}

/// The result of a commit of an execution in doubt; `None` if another commit came first.
pub(crate) fn unless_overtaken<T>(
    id: Id,
    written: Result<T, EffectError>,
) -> Result<Option<Result<T, StateError>>, Unavailable> {
    match written {
        Ok(written) => Ok(Some(Ok(written))),
        Err(error) if error.is_conflict() => Ok(None),
        Err(EffectError::Unavailable(error)) => Err(error),
        Err(error) => Ok(Some(Err(StateError::NotParked { id, source: Box::new(error) }))),
    }
}

/// The current state of an execution without an answer.
#[allow(clippy::large_enum_variant, reason = "there is one at a time")]
pub(crate) enum UnansweredCall {
    InDoubt(InDoubt),
    Settled(AnyExecution),
    /// Its worker is alive, and in time.
    Running,
    /// It was settled in the meantime.
    Other,
}
