//! The loop of a worker: runs ready machines as jobs until it stops.

use std::{
    collections::{BTreeMap, HashMap},
    future::pending,
    panic::AssertUnwindSafe,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use event_listener::EventListener;
use futures_util::{
    FutureExt,
    future::{Either, select},
};
use tokio::task::{self, JoinError, JoinSet};
use tracing::field::display;

use super::{
    Handler, WorkerError, adopt,
    calls::Calls,
    crew::Crew,
    job,
    settings::sleep_until,
    shared::{SKIP_FOR, Shared},
    tools::{self, Runner},
    until::Until,
};
use crate::{
    clock::millis,
    definition::Definition,
    future::{BoxFuture, reschedule},
    id::Id,
    store::{
        Unavailable,
        backend::ReadyMachine,
        integrity::{check::ReadAs, declared::Declared},
        process::lock_file,
    },
    stored::Restore,
    telemetry,
};

pub(super) trait AnyHandler: Send + Sync {
    fn definition(&self) -> &'static Definition;

    fn run(
        self: Arc<Self>,
        shared: Arc<Shared>,
        ready: ReadyMachine,
        holder_ended: bool,
    ) -> BoxFuture<'static, Result<(), Unavailable>>;
}

impl<H: Handler> AnyHandler for H {
    fn definition(&self) -> &'static Definition {
        <H::Machine as Restore>::DEFINITION
    }

    fn run(
        self: Arc<Self>,
        shared: Arc<Shared>,
        ready: ReadyMachine,
        holder_ended: bool,
    ) -> BoxFuture<'static, Result<(), Unavailable>> {
        Box::pin(async move { job::run(&*self, &shared, ready, holder_ended).await })
    }
}

pub(super) struct Loop {
    pub(super) shared: Arc<Shared>,
    pub(super) kinds: BTreeMap<&'static str, Arc<dyn AnyHandler>>,
    pub(super) names: Vec<String>,
    pub(super) crew: Crew,
    pub(super) declared: Declared,
    pub(super) tools: Vec<Arc<dyn Runner>>,
    pub(super) jobs: JoinSet<()>,
    pub(super) busy: HashMap<task::Id, Id>,
    /// The job of a suspect: nothing else runs at the same time.
    pub(super) alone: Option<task::Id>,
    pub(super) calls: Arc<Calls>,
}

impl Loop {
    pub(super) async fn run(mut self) -> Result<(), WorkerError> {
        let shared = Arc::clone(&self.shared);
        if let Err(error) = self.join().await {
            // What `start` returned may be looked at only when it is stopped.
            telemetry::NotStarted { error: error.class() }.emit();
            self.crew.leave().await;
            return Err(error);
        }
        let (store, settings) = (&shared.store, &shared.settings);
        let heart = Arc::clone(&shared);
        // It ends with this future, however that ends.
        let mut heartbeat = JoinSet::new();
        heartbeat.spawn(async move {
            heart.leases.heartbeat(&heart.store, &heart.settings).await;
        });
        let result = self.serve().await;
        shared.ended.store(true, Ordering::Release);
        self.finish(store.inner.clock.uptime() + settings.grace).await;
        heartbeat.shutdown().await;
        self.abandon().await;
        self.crew.leave().await;
        result
    }

    /// Checks that it can drive what is stored, and joins the workers.
    async fn join(&mut self) -> Result<(), WorkerError> {
        let store = &self.shared.store;
        let check = store.misfits(&self.declared, ReadAs::Driven).await?;
        if !check.is_clean() {
            return Err(WorkerError::Incompatible { check: Box::new(check) });
        }
        store.announce().await?.map_err(|error| WorkerError::Lock(lock_file::failure(&error)))?;
        self.crew.give_sign_of_life(&self.shared.settings);
        // Another process may be in the middle of a long transaction, or frozen in one.
        while let Err(error) = self.crew.join().await {
            if !error.is_busy() || self.shared.until.is_over() {
                return Err(error.into());
            }
            telemetry::WorkerWaits { operation: "start", error: error.class() }.emit();
        }
        tools::declare(store, &self.tools).await?;
        for kind in &self.declared.machines {
            adopt::wake(store, kind.definition).await?;
        }
        Ok(())
    }

    async fn serve(&mut self) -> Result<(), WorkerError> {
        let shared = Arc::clone(&self.shared);
        let (store, settings) = (&shared.store, &shared.settings);
        let mut swept_at = None;
        let mut ended = Vec::new();
        let mut cleaned_at = None;
        let commits = store.commits();
        let started = if settings.single_step { store.position().await.ok() } else { None };
        loop {
            if started.is_some() && store.position().await.ok() != started {
                return Ok(());
            }
            // Before looking, so that a commit in between is not missed.
            let commit = commits.listen();
            self.reap();
            if swept_at.is_none_or(|at| store.inner.clock.uptime() >= at + settings.sweep) {
                self.crew.give_sign_of_life(settings);
                ended = store.ended_holders().await.unwrap_or_default();
                swept_at = Some(store.inner.clock.uptime());
                if cleaned_at.is_none_or(|at| store.inner.clock.uptime() >= at + CLEAN) {
                    cleaned_at = Some(store.inner.clock.uptime());
                    self.crew.look(shared.on_error.as_ref()).await;
                    self.crew.report_stuck(shared.on_error.as_ref()).await;
                    if let Err(error) = store.remove_lock_files().await {
                        let error = error.class();
                        telemetry::WorkerPostponed { operation: "clean", error }.emit();
                    }
                }
            }
            // Commits without an end must not keep the runtime for this worker.
            reschedule().await;
            let mut has_looked = true;
            let next = match self.take(&ended).await {
                Ok(next) => next,
                Err(error @ Unavailable::Stopped) => return Err(error.into()),
                Err(error) => {
                    telemetry::WorkerWaits { operation: "read", error: error.class() }.emit();
                    has_looked = !error.is_busy();
                    Some(settings.sweep)
                }
            };
            if matches!(shared.until, Until::Idle) && self.jobs.is_empty() && has_looked {
                self.crew.report_calls(shared.on_error.as_ref()).await;
                return Ok(());
            }
            let sweep = settings.sweep;
            let wait = store.inner.clock.uptime() + next.unwrap_or(sweep).min(sweep).max(MOMENT);
            if self.wait(commit, wait).await {
                return Ok(());
            }
        }
    }

    pub(super) fn begin(
        &mut self,
        name: &str,
        ready: ReadyMachine,
        holder_ended: bool,
    ) -> Option<task::Id> {
        let (&name, kind) = self.kinds.get_key_value(name)?;
        let (id, revision) = (ready.id, ready.revision);
        if self.is_busy(id) {
            return None;
        }
        let (kind, shared) = (Arc::clone(kind), Arc::clone(&self.shared));
        let job = self.jobs.spawn(async move {
            let run = kind.run(Arc::clone(&shared), ready, holder_ended);
            match AssertUnwindSafe(run).catch_unwind().await {
                Ok(Ok(())) => {}
                // Its lease expires, and another worker takes over.
                Ok(Err(error)) => {
                    telemetry::WorkerWaits { operation: "write", error: error.class() }.emit();
                    shared.leave(id, revision, UNAVAILABLE);
                    shared.rest(UNAVAILABLE).await;
                }
                // User code that is not caught elsewhere, such as a `Deserialize` or a `Drop`.
                Err(_) => {
                    telemetry::Panicked { kind: Some(name), id: Some(display(id)) }.emit();
                    shared.leave(id, revision, SKIP_FOR);
                }
            }
        });
        self.busy.insert(job.id(), id);
        Some(job.id())
    }

    pub(super) fn is_busy(&self, id: Id) -> bool {
        self.busy.values().any(|busy| *busy == id)
    }

    fn reap(&mut self) {
        while let Some(ended) = self.jobs.try_join_next_with_id() {
            self.forget(ended);
        }
    }

    fn forget(&mut self, ended: Result<(task::Id, ()), JoinError>) {
        let job = match ended {
            Ok((job, ())) => job,
            Err(error) => {
                // Panics of user code are caught; the lease expires.
                telemetry::Panicked { kind: None, id: None }.emit();
                error.id()
            }
        };
        self.busy.remove(&job);
        self.alone.take_if(|alone| *alone == job);
    }

    /// Waits until something may be ready, or there is room again. Returns `true` if it is to stop.
    async fn wait(&mut self, commit: EventListener, until: Duration) -> bool {
        let shared = Arc::clone(&self.shared);
        let full = self.jobs.len() >= shared.settings.concurrency;
        let ring: BoxFuture<'_, ()> = if full { Box::pin(pending()) } else { Box::pin(commit) };
        let stop: BoxFuture<'_, ()> = match &shared.until {
            Until::Stopped(stop) => Box::pin(stop.wait()),
            Until::Idle => Box::pin(pending()),
        };
        let time = Box::pin(sleep_until(&shared.store, until));
        let job = Box::pin(async {
            match self.jobs.join_next_with_id().await {
                Some(ended) => ended,
                None => pending().await,
            }
        });
        let ended = match select(stop, select(job, select(ring, time))).await {
            Either::Left(_) => return true,
            Either::Right((Either::Right(_), _)) => return false,
            Either::Right((Either::Left((ended, _)), _)) => ended,
        };
        self.forget(ended);
        false
    }

    /// Drops the jobs that have not handed back. One that blocks its thread cannot be dropped: it
    /// is left behind, and its lease expires.
    async fn abandon(&mut self) {
        self.jobs.abort_all();
        self.jobs_end(DROPPED).await;
        self.jobs.detach_all();
    }

    /// Waits for the jobs to end, for at most this time.
    async fn jobs_end(&mut self, time: Duration) {
        let jobs = async { while self.jobs.join_next().await.is_some() {} };
        drop(select(Box::pin(jobs), self.shared.store.inner.clock.sleep(time)).await);
    }

    /// Waits for the jobs and the calls until this time. Then it stops the jobs; the calls run on.
    async fn finish(&mut self, until: Duration) {
        let shared = Arc::clone(&self.shared);
        self.reap();
        let (machines, calls) = (self.jobs.len(), self.calls.count());
        let grace_ms = millis(shared.settings.grace);
        if machines + calls > 0 {
            telemetry::Stopping { machines: machines as u64, calls: calls as u64, grace_ms }.emit();
        }
        let jobs = async {
            while self.jobs.join_next().await.is_some() {}
            self.calls.ended().await;
        };
        let time = Box::pin(sleep_until(&shared.store, until));
        if let Either::Left(_) = select(Box::pin(jobs), time).await {
            return;
        }
        shared.halt.ask();
        // Handlers are stopped at their next await; then they hand back.
        self.jobs_end(HAND_BACK).await;
        telemetry::Stopped { grace_ms }.emit();
    }
}

/// The delay before a machine that could not be read or written is tried again.
const UNAVAILABLE: Duration = Duration::from_secs(1);

/// The interval at which the lock files of ended workers are removed.
const CLEAN: Duration = Duration::from_mins(1);

/// The shortest wait, so that a stopped clock does not cause a busy loop.
const MOMENT: Duration = Duration::from_millis(1);

const HAND_BACK: Duration = Duration::from_secs(2);

/// The time limit for dropping tasks that do not block their thread.
const DROPPED: Duration = Duration::from_millis(200);
