use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    future::{Future, pending},
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use event_listener::Event;
use futures_util::{
    FutureExt,
    future::{Either, select, select_all},
};
use tokio::task::{self, JoinError, JoinHandle, JoinSet};

use super::{
    Doorbell, Handler,
    doorbell::StoreDoorbell,
    executions::{AtRunTime, Executions, Runs, Tooled},
    job::{self, LEFT_TO_OTHERS, Shared},
    lease::Leases,
    settings::{Settings, millis, sleep_until},
};
use crate::{
    actor::{Actor, Actors, Senders},
    contract::{Action, BoxFuture, Perform, Tool},
    id::Id,
    store::{CommitError, Store, Unavailable, backend::Agenda},
    stored::Restore,
};

/// Drives the machines of a store: takes those that are ready, does what their state asks for, commits,
/// goes on.
///
/// A machine is ready when it came into a state that is not terminal, when a message for it has come,
/// when one of its deadlines is due, or when a machine that it waits for has ended. Then the worker
/// takes a lease on it, fires what is due, applies the messages that the state takes, and calls the
/// handler of its kind. Everything is written under the lease: a worker that lost it, because it was
/// frozen or cut off, writes nothing more.
///
/// Executions are machines too. The worker calls their tools: idempotent ones with retries, irreversible
/// ones under permits, which never move to another worker.
///
/// What fails is tried again later, each time after twice the time, and set aside after a number of
/// attempts; see [`Store::set_aside`].
///
/// ```
/// use machine::actor::{Actors, GraphRunner};
/// use machine::machine;
/// use machine::store::Store;
/// use machine::worker::{Failure, Handler, Next, Task, Worker};
/// use serde::{Deserialize, Serialize};
///
/// /// An order.
/// #[machine(durable)]
/// #[derive(Debug, Serialize, Deserialize)]
/// pub enum Order {
///     #[initial]
///     #[on(pack => Packed, by = GraphRunner)]
///     Placed,
///     #[terminal]
///     Packed,
/// }
///
/// struct Shop(GraphRunner);
///
/// impl Handler for Shop {
///     type Machine = AnyOrder;
///
///     async fn handle(&self, order: AnyOrder, _: &mut Task) -> Result<Next<AnyOrder>, Failure> {
///         Ok(match order {
///             AnyOrder::Placed(order) => Next::to(order.pack(&self.0)),
///             AnyOrder::Packed(_) => Next::Wait,
///         })
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
/// # runtime.block_on(async {
/// let store = Store::memory();
/// let mut order = Order::new();
/// store.create(&mut order).await?;
///
/// let runner = Actors::issue("shop")?.graph_runner;
/// let worker = Worker::new(&store, Actors::issue("worker")?).handler(Shop(runner));
/// worker.run_until_idle().await?;
///
/// let order: AnyOrder = store.load(order.id()).await?;
/// assert_eq!(order.status(), order::Status::Packed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })
/// # }
/// ```
#[must_use = "a worker does nothing until it runs"]
pub struct Worker {
    store: Store,
    settings: Settings,
    senders: Senders,
    kinds: BTreeMap<&'static str, Arc<dyn Kind>>,
    executions: Executions,
    doorbells: Vec<Arc<dyn Doorbell>>,
}

/// A handler, whatever its machine.
trait Kind: Send + Sync {
    fn run(
        self: Arc<Self>,
        shared: Arc<Shared>,
        agenda: Agenda,
        holder_ended: bool,
    ) -> BoxFuture<'static, Result<(), Unavailable>>;
}

impl<H: Handler> Kind for H {
    fn run(
        self: Arc<Self>,
        shared: Arc<Shared>,
        agenda: Agenda,
        holder_ended: bool,
    ) -> BoxFuture<'static, Result<(), Unavailable>> {
        Box::pin(async move { job::run(&*self, &shared, agenda, holder_ended).await })
    }
}

impl Worker {
    /// A worker without handlers. It fires deadlines, applies messages and runs tools as these actors.
    pub fn new(store: &Store, actors: Actors) -> Self {
        let executions = Executions {
            actors: Arc::new(actors),
            tools: BTreeMap::new(),
            others: None,
            late: Arc::default(),
        };
        Self {
            store: store.clone(),
            settings: Settings::default(),
            senders: Senders::new(),
            kinds: BTreeMap::new(),
            executions,
            doorbells: vec![Arc::new(StoreDoorbell::of(store))],
        }
    }

    /// Drives the machines of this handler's kind. Another handler of the same kind replaces it.
    pub fn handler<H: Handler>(mut self, handler: H) -> Self {
        let kind = <H::Machine as Restore>::DEFINITION.name.as_ref();
        self.kinds.insert(kind, Arc::new(handler));
        self
    }

    /// Runs the executions of this tool with this service.
    pub fn tool<T: Tool>(mut self, service: impl Perform<T> + 'static) -> Self
    where
        T::Effect: Runs<T>,
    {
        let name = format!("{}.{}", T::SERVICE, T::METHOD);
        self.executions.tools.insert(name, Arc::new(Tooled::<T, T::Effect, _>::new(service)));
        self
    }

    /// Runs the executions of all other tools, such as those of MCP servers, with this service.
    pub fn other_tools(mut self, service: impl Perform<Action> + 'static) -> Self {
        self.executions.others = Some(Arc::new(Tooled::<Action, AtRunTime, _>::new(service)));
        self
    }

    /// Applies messages of actors of this type, too. Those of the library are known.
    ///
    /// A message carries the [`KIND`](Actor::KIND) of its sender, because it may come from another
    /// process; so two types of a program must not share one.
    pub fn sender<A: Actor>(mut self) -> Self {
        self.senders.add::<A>();
        self
    }

    /// How long a lease lasts; by default 30 s, and at least 100 ms. The worker renews it after a third, and stops by
    /// itself after two thirds without an answer of the store. When a process ends, others on the same
    /// host take over sooner; one that is frozen is noticed when its leases end. A short lease costs a
    /// write for each machine and third of it.
    pub fn lease(mut self, time: Duration) -> Self {
        self.settings.lease = time.max(SHORTEST_LEASE);
        self
    }

    /// How many machines it drives at the same time; by default 16.
    pub fn concurrency(mut self, machines: usize) -> Self {
        self.settings.concurrency = machines.max(1);
        self
    }

    /// How often a handler, a deadline or a message is tried before it is set aside; by default 5.
    ///
    /// An attempt that was cut short counts, too: by the end of the process, or because the lease was
    /// lost. A machine that this happened to twice in a row is driven alone, with nothing beside it, so that
    /// one that kills its process takes no others with it.
    pub fn attempts(mut self, most: u32) -> Self {
        self.settings.attempts = most.max(1);
        self
    }

    /// How long it waits after the first failure, and at most; by default 1 s and 5 min.
    pub fn backoff(mut self, first: Duration, longest: Duration) -> Self {
        (self.settings.first_delay, self.settings.longest_delay) = (first, longest);
        self
    }

    /// How often it looks for work without a ring, and for workers whose process has ended; by default
    /// every second, and at most every 10 ms. It is a few indexed reads, however many machines wait.
    pub fn sweep(mut self, time: Duration) -> Self {
        self.settings.sweep = time.max(SHORTEST_SWEEP);
        self
    }

    /// How long a handler may take; by default without a limit. One that takes longer is stopped, and that is a
    /// failed attempt. Calls of tools have timeouts of their own.
    pub fn handler_limit(mut self, time: Duration) -> Self {
        self.settings.handler_limit = Some(time);
        self
    }

    /// How long [`Running::stop`] waits for handlers; by default 10 s. Then they are stopped, and other
    /// workers begin their states again.
    pub fn grace(mut self, time: Duration) -> Self {
        self.settings.grace = time;
        self
    }

    /// Another doorbell. It rings after each commit of this store, and the worker listens to it.
    pub fn doorbell(mut self, doorbell: impl Doorbell) -> Self {
        let doorbell: Arc<dyn Doorbell> = Arc::new(doorbell);
        self.store.ring(Arc::clone(&doorbell));
        self.doorbells.push(doorbell);
        self
    }

    /// Starts it as a task of the current tokio runtime.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    #[must_use = "dropping it leaves the worker running"]
    pub fn start(self) -> Running {
        let stop = Arc::new(Stop::default());
        let asked = Arc::clone(&stop);
        let task = tokio::spawn(self.run(Until::Stopped(asked)));
        Running { stop, task }
    }

    /// Runs until this future completes. Then it takes nothing new, and finishes what it has begun or
    /// hands it back. If the returned future is dropped before, its leases end by themselves.
    ///
    /// # Errors
    ///
    /// [`CommitError::Unavailable`] if the store is closed or cannot be written at the start, and
    /// [`CommitError::Lock`].
    pub async fn run_until(self, stop: impl Future<Output = ()> + Send) -> Result<(), CommitError> {
        let asked = Arc::new(Stop::default());
        let run = Box::pin(self.run(Until::Stopped(Arc::clone(&asked))));
        match select(run, Box::pin(stop)).await {
            Either::Left((ended, _)) => ended,
            Either::Right(((), run)) => {
                asked.ask();
                run.await
            }
        }
    }

    /// Runs until nothing is ready. What waits for a message, a deadline, another attempt, a key that is
    /// held, or a call that another worker makes is left for later.
    ///
    /// # Errors
    ///
    /// See [`run_until`](Self::run_until).
    pub async fn run_until_idle(self) -> Result<(), CommitError> {
        self.run(Until::Idle).await
    }

    fn run(self, until: Until) -> impl Future<Output = Result<(), CommitError>> + Send {
        let Self { store, settings, senders, mut kinds, executions, doorbells } = self;
        let (late, actors) = (Arc::clone(&executions.late), Arc::clone(&executions.actors));
        if !executions.tools.is_empty() || executions.others.is_some() {
            let name = crate::contract::execution::DEFINITION.name.as_ref();
            kinds.entry(name).or_insert_with(|| Arc::new(executions));
        }
        let shared = Arc::new(Shared {
            name: store.worker_name().to_owned(),
            store,
            actors,
            settings,
            senders,
            leases: Leases::default(),
            stopping: AtomicBool::new(false),
            halted: AtomicBool::new(false),
            halt: Event::new(),
            left: Mutex::default(),
        });
        let names = kinds.keys().map(|&name| name.to_owned()).collect();
        Loop {
            shared,
            kinds,
            names,
            doorbells,
            jobs: JoinSet::new(),
            busy: HashMap::new(),
            alone: None,
            late,
        }
        .run(until)
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("kinds", &self.kinds.keys()).finish_non_exhaustive()
    }
}

/// A worker that runs. Dropping it leaves the worker running until the runtime ends.
#[derive(Debug)]
pub struct Running {
    stop: Arc<Stop>,
    task: JoinHandle<Result<(), CommitError>>,
}

impl Running {
    /// Takes nothing new, finishes what was begun or hands it back, and ends.
    ///
    /// # Errors
    ///
    /// See [`Worker::run_until`].
    pub async fn stop(self) -> Result<(), CommitError> {
        self.stop.ask();
        // It has no panics of its own: those of handlers are caught.
        self.task.await.unwrap_or_else(|_| Err(Unavailable::stopped().into()))
    }
}

enum Until {
    Stopped(Arc<Stop>),
    Idle,
}

impl Until {
    fn is_over(&self) -> bool {
        match self {
            Self::Stopped(stop) => stop.asked.load(Ordering::Acquire),
            Self::Idle => false,
        }
    }
}

#[derive(Debug, Default)]
struct Stop {
    asked: AtomicBool,
    event: Event,
}

impl Stop {
    fn ask(&self) {
        self.asked.store(true, Ordering::Release);
        self.event.notify(usize::MAX);
    }

    async fn asked(&self) {
        loop {
            let event = self.event.listen();
            if self.asked.load(Ordering::Acquire) {
                return;
            }
            event.await;
        }
    }
}

/// The loop of a worker.
struct Loop {
    shared: Arc<Shared>,
    kinds: BTreeMap<&'static str, Arc<dyn Kind>>,
    names: Vec<String>,
    doorbells: Vec<Arc<dyn Doorbell>>,
    jobs: JoinSet<()>,
    /// The machines of the jobs.
    busy: HashMap<task::Id, Id>,
    /// The job of a suspect: nothing runs beside it.
    alone: Option<task::Id>,
    late: Arc<Mutex<JoinSet<()>>>,
}

/// What wakes the loop.
enum Woken {
    /// Something may be ready, or there is room again.
    Look,
    Stop,
}

impl Loop {
    async fn run(mut self, until: Until) -> Result<(), CommitError> {
        let shared = Arc::clone(&self.shared);
        let (store, settings) = (&shared.store, &shared.settings);
        store.announce().await?;
        // Another process may be in the middle of a long transaction, or frozen in one.
        while let Err(error) = store.drive(&self.names).await {
            if !error.is_busy() || until.is_over() {
                return Err(error.into());
            }
            tracing::warn!(%error, "the worker waits for its store");
        }
        let heart = Arc::clone(&shared);
        // It ends with this future, however that ends.
        let mut heartbeat = JoinSet::new();
        heartbeat.spawn(async move {
            heart.leases.heartbeat(&heart.store, &heart.settings).await;
        });
        let result = self.serve(&until).await;
        shared.stopping.store(true, Ordering::Release);
        self.finish(store.uptime() + settings.grace).await;
        heartbeat.shutdown().await;
        self.jobs.shutdown().await;
        result
    }

    async fn serve(&mut self, until: &Until) -> Result<(), CommitError> {
        let shared = Arc::clone(&self.shared);
        let (store, settings) = (&shared.store, &shared.settings);
        let mut swept_at = None;
        let mut ended = Vec::new();
        let mut cleaned_at = None;
        loop {
            // Before looking, so that a ring in between is not missed.
            let rings: Vec<_> = self.doorbells.iter().map(|doorbell| doorbell.listen()).collect();
            self.reap();
            if swept_at.is_none_or(|at| store.uptime() >= at + settings.sweep) {
                ended = store.ended_holders().await.unwrap_or_default();
                swept_at = Some(store.uptime());
                if cleaned_at.is_none_or(|at| store.uptime() >= at + CLEAN) {
                    cleaned_at = Some(store.uptime());
                    if let Err(error) = store.remove_lock_files().await {
                        tracing::debug!(%error, "lock files of ended workers were not removed");
                    }
                }
            }
            // A doorbell that never stops must not keep the runtime for itself.
            task::yield_now().await;
            let next = match self.take(&ended).await {
                Ok(next) => next,
                Err(error) if error.is_stopped() => return Err(error.into()),
                Err(error) => {
                    tracing::warn!(%error, "the worker cannot read its store now");
                    Some(settings.sweep)
                }
            };
            if matches!(until, Until::Idle) && self.jobs.is_empty() && next != Some(Duration::ZERO)
            {
                return Ok(());
            }
            let sweep = settings.sweep;
            let wait = store.uptime() + next.unwrap_or(sweep).min(sweep).max(MOMENT);
            match self.wait(rings, wait, until).await {
                Woken::Stop => return Ok(()),
                Woken::Look => {}
            }
        }
    }

    /// Begins what is ready, as far as there is room. Returns how long it is until more is; zero if
    /// there is no room for it now.
    async fn take(&mut self, ended: &[String]) -> Result<Option<Duration>, Unavailable> {
        let shared = Arc::clone(&self.shared);
        let room = shared.settings.concurrency.saturating_sub(self.jobs.len());
        if room == 0 || self.alone.is_some() {
            return Ok(None);
        }
        // Those that run already, and those that are left to others, may come first.
        let left = shared.left.lock().unwrap_or_else(PoisonError::into_inner).len();
        let limit = room + self.busy.len() + left + 1;
        let mut next: Option<Duration> = None;
        let mut ready = Vec::new();
        let mut suspect = None;
        for name in &self.names {
            let found =
                shared.store.agenda(std::slice::from_ref(name), limit, ended.to_vec()).await?;
            let now = shared.store.now();
            let mut of_kind = Vec::new();
            for agenda in found {
                let holder_ended =
                    agenda.worker.as_ref().is_some_and(|worker| ended.contains(worker));
                if agenda.at > now && !holder_ended {
                    let wait = u64::try_from(agenda.at.saturating_sub(now)).unwrap_or(0);
                    let wait = Duration::from_millis(wait.max(1));
                    next = Some(next.map_or(wait, |next| next.min(wait)));
                } else if !self.is_busy(agenda.id) && !shared.is_left(agenda.id, agenda.news) {
                    if agenda.worker.is_some() && agenda.attempts >= SUSPECT {
                        suspect.get_or_insert((name.clone(), agenda, holder_ended));
                    } else {
                        of_kind.push((agenda, holder_ended));
                    }
                }
            }
            ready.push((name.clone(), of_kind.into_iter()));
        }
        if let Some((name, agenda, holder_ended)) = suspect {
            // It waits for those that run, and those that are ready wait for it.
            if self.jobs.is_empty() {
                self.alone = self.begin(&name, agenda, holder_ended);
            }
            return Ok(None);
        }
        // One of each kind in turn, so that none waits for the end of another one's queue.
        let mut room = room;
        loop {
            let mut took = false;
            for (name, of_kind) in &mut ready {
                if room == 0 {
                    return Ok(next);
                }
                let Some((agenda, holder_ended)) = of_kind.next() else { continue };
                if self.begin(name, agenda, holder_ended).is_some() {
                    room -= 1;
                    took = true;
                }
            }
            if !took {
                return Ok(next);
            }
        }
    }

    fn begin(&mut self, name: &str, agenda: Agenda, holder_ended: bool) -> Option<task::Id> {
        let kind = self.kinds.get(name)?;
        let (id, news) = (agenda.id, agenda.news);
        if self.is_busy(id) {
            return None;
        }
        let (kind, shared) = (Arc::clone(kind), Arc::clone(&self.shared));
        let job = self.jobs.spawn(async move {
            let run = kind.run(Arc::clone(&shared), agenda, holder_ended);
            match AssertUnwindSafe(run).catch_unwind().await {
                Ok(Ok(())) => {}
                // Its lease ends by itself, and somebody takes over.
                Ok(Err(error)) => {
                    tracing::warn!(%id, %error, "the worker cannot write its store now");
                    shared.leave(id, news, UNAVAILABLE);
                }
                // User code that is not caught elsewhere, such as a `Deserialize` or a `Drop`.
                Err(_) => {
                    tracing::error!(%id, "driving the machine panicked; it is left alone for a while");
                    shared.leave(id, news, LEFT_TO_OTHERS);
                }
            }
        });
        self.busy.insert(job.id(), id);
        Some(job.id())
    }

    fn is_busy(&self, id: Id) -> bool {
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
                // Panics of user code are caught; the lease ends by itself.
                tracing::error!(%error, "a job of the worker panicked");
                error.id()
            }
        };
        self.busy.remove(&job);
        self.alone.take_if(|alone| *alone == job);
    }

    async fn wait(
        &mut self,
        rings: Vec<BoxFuture<'static, ()>>,
        until_time: Duration,
        until: &Until,
    ) -> Woken {
        let shared = Arc::clone(&self.shared);
        let full = self.jobs.len() >= shared.settings.concurrency;
        let ring: BoxFuture<'_, ()> = if full || rings.is_empty() {
            Box::pin(pending())
        } else {
            Box::pin(async { drop(select_all(rings).await) })
        };
        let stop: BoxFuture<'_, ()> = match until {
            Until::Stopped(stop) => Box::pin(stop.asked()),
            Until::Idle => Box::pin(pending()),
        };
        let time = Box::pin(sleep_until(&shared.store, until_time));
        let job = Box::pin(async {
            match self.jobs.join_next_with_id().await {
                Some(ended) => ended,
                None => pending().await,
            }
        });
        let ended = match select(stop, select(job, select(ring, time))).await {
            Either::Left(_) => return Woken::Stop,
            Either::Right((Either::Right(_), _)) => return Woken::Look,
            Either::Right((Either::Left((ended, _)), _)) => ended,
        };
        self.forget(ended);
        Woken::Look
    }

    /// Waits for the jobs, and for calls that answer late, until this time; then stops them.
    async fn finish(&mut self, until: Duration) {
        let shared = Arc::clone(&self.shared);
        let jobs = async {
            while self.jobs.join_next().await.is_some() {}
            // Nobody adds to it any more.
            let mut late =
                std::mem::take(&mut *self.late.lock().unwrap_or_else(PoisonError::into_inner));
            while late.join_next().await.is_some() {}
        };
        let time = Box::pin(sleep_until(&shared.store, until));
        if let Either::Left(_) = select(Box::pin(jobs), time).await {
            return;
        }
        shared.halt();
        // Handlers are stopped at their next await; then they hand back.
        let jobs = async { while self.jobs.join_next().await.is_some() {} };
        let soon = shared.store.uptime() + HAND_BACK;
        let time = Box::pin(sleep_until(&shared.store, soon));
        drop(select(Box::pin(jobs), time).await);
        tracing::info!(after_ms = millis(shared.settings.grace), "the worker was stopped");
    }
}

/// A machine whose attempts were cut short so often in a row is driven alone.
const SUSPECT: u32 = 2;

const SHORTEST_LEASE: Duration = Duration::from_millis(100);
const SHORTEST_SWEEP: Duration = Duration::from_millis(10);

/// How long a machine rests that could not be read or written.
const UNAVAILABLE: Duration = Duration::from_secs(1);

/// How often the lock files of ended workers are removed.
const CLEAN: Duration = Duration::from_mins(1);

/// The shortest wait, so that a clock that stands still does not make a busy loop.
const MOMENT: Duration = Duration::from_millis(1);

/// How long handing back may take.
const HAND_BACK: Duration = Duration::from_secs(2);
