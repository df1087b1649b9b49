use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    future::Future,
    marker::PhantomData,
    sync::{Arc, Mutex, atomic::AtomicBool},
};

use tokio::task::JoinSet;

use super::{
    Driven, FailedAttempt, Handler,
    crew::Crew,
    error::WorkerError,
    executions::Executions,
    handler::{SelfDriven, Waits},
    lease::Leases,
    serve::{AnyHandler, Loop},
    settings::Settings,
    shared::{Hook, OnError, Shared},
    tools::Tooled,
    until::{Stop, Until},
};
use crate::{
    actor::{Actor, Actors, Senders},
    contract::{Action, Contract, Perform, Tool, execution, tool_name},
    effects::{
        declared::{named_tool, run_time_tools},
        error::EffectError,
    },
    store::{
        Check, Store, Unavailable,
        integrity::{check::ReadAs, declared::Declared},
    },
    stored::Restore,
};

/// Drives the machines of a store: polls for ready ones, runs their handlers, and commits the
/// transitions.
///
/// A machine is ready when it has entered a state that is not terminal, when it has a new message,
/// when one of its deadlines is due, or when a machine that it waits for has ended. The worker then
/// takes a lease on the machine and works in order of arrival: it fires due deadlines, applies the
/// messages that the state takes, and calls the handler of its kind. All writes need the lease: a
/// worker that has lost it, because it was frozen or cut off, writes nothing more.
///
/// Executions are machines too. The worker calls their tools: idempotent ones with retries,
/// irreversible ones under permits, which never move to another worker.
///
/// A failed attempt is tried again later, with a delay that doubles each time, and set aside after
/// a number of attempts; see [`Store::set_aside`].
///
/// ```
/// use machine::actor::{Actors, GraphRunner};
/// use machine::machine;
/// use machine::store::Store;
/// use machine::worker::{Handled, Next, Task, Worker};
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
/// impl order::Handle for Shop {
///     async fn placed(&self, order: Order<order::Placed>, _: &mut Task) -> Handled<AnyOrder> {
///         Ok(Next::to(order.pack(&self.0)))
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
/// let worker = Worker::new(&store, Actors::issue("worker")?).handler(order::Driver(Shop(runner)));
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
    pub(super) settings: Settings,
    senders: Senders,
    kinds: BTreeMap<&'static str, Arc<dyn AnyHandler>>,
    pub(super) executions: Executions,
    on_error: Option<OnError>,
    declared: Declared,
}

impl Worker {
    /// Creates a worker without handlers and tools, which acts as these actors and does nothing
    /// yet. For each kind with a [`handler`](Self::handler), it also fires deadlines and applies
    /// messages; it runs executions once it has a [`tool`](Self::tool).
    ///
    /// A machine for which no live worker has a handler or a tool needs attention after a minute,
    /// and is reported by `tracing`; [`Store::workers`] lists the workers that are alive.
    pub fn new(store: &Store, actors: Actors) -> Self {
        let (tools, others, calls, asked) = Default::default();
        let executions = Executions { actors: Arc::new(actors), tools, others, calls, asked };
        Self {
            store: store.clone(),
            settings: Settings::default(),
            senders: Senders::new(),
            kinds: BTreeMap::new(),
            executions,
            on_error: None,
            declared: Declared::default(),
        }
    }

    /// Drives the machines of this handler's kind, such as `order::Driver(shop)`. Another handler
    /// of the same kind replaces it.
    ///
    /// A worker whose program cannot read machines of the kind that have not ended does not start;
    /// see [`check`](Self::check). It leaves machines that newer programs have written to their
    /// workers.
    pub fn handler<H: Handler>(mut self, handler: H) -> Self {
        self.kinds.insert(<H::Machine as Restore>::DEFINITION.name(), Arc::new(handler));
        self.declared.machine::<H::Machine>();
        self
    }

    /// Drives a machine without states that need a [handler](macro@crate::machine#handlers): each
    /// transition is made by a person, a deadline, or the outcome of a call of `#[invoke]`, or its
    /// state may last. Does not compile for other machines.
    ///
    /// ```
    /// use machine::{actor::Human, contract::{CallError, Tool}, machine, worker::Worker};
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[machine(durable)]
    /// #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    /// enum Order {
    ///     #[initial]
    ///     #[on(place(charge) => Paying, by = Human)]
    ///     Cart,
    ///     #[invoke(charge, done = paid, failed = refused)]
    ///     #[on(paid(receipt) => Paid)]
    ///     #[on(refused(why) => Unpaid)]
    ///     Paying { charge: Charge },
    ///     #[terminal]
    ///     Paid { receipt: String },
    ///     #[terminal]
    ///     Unpaid { why: CallError },
    /// }
    ///
    /// #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
    /// #[tool(bank.charge, irreversible)]
    /// struct Charge {
    ///     cents: u32,
    /// }
    ///
    /// fn drive(worker: Worker) -> Worker {
    ///     worker.machine::<AnyOrder>()
    /// }
    /// # fn main() {}
    /// ```
    pub fn machine<M: Driven + SelfDriven>(self) -> Self {
        self.handler(Waits::<M>(PhantomData))
    }

    /// Runs the executions of this tool with this service. When the worker starts, it registers an
    /// irreversible tool as such in the store, and compares its keys with those of earlier
    /// attempts; see [`Tool::identity`]. The arguments of calls that have not ended must fit the
    /// type of the tool; see [`check`](Self::check).
    pub fn tool<T: Tool>(mut self, service: impl Perform<T> + 'static) -> Self {
        self.executions.tools.insert(tool_name::<T>(), Arc::new(Tooled::<T, _>::new(service)));
        self.declared.tool(named_tool::<T>());
        self
    }

    /// Runs the executions of all other tools, such as those of MCP servers, with this service.
    /// Calls that have not begun must pass its [check](Perform::check_call); see
    /// [`check`](Self::check).
    pub fn other_tools(mut self, service: impl Perform<Action> + 'static) -> Self {
        let service = Arc::new(service);
        let checking = Arc::clone(&service);
        let check = move |contract: &Contract| Perform::<Action>::check_call(&*checking, contract);
        self.declared.others = Some(run_time_tools(check));
        self.executions.others = Some(Arc::new(Tooled::<Action, _>::new(service)));
        self
    }

    /// Also applies messages of actors of this type. The worker knows the library's own actors.
    ///
    /// A message carries the [`KIND`](Actor::KIND) of its sender, because it may come from another
    /// process; so two types of a program must not share one.
    pub fn sender<A: Actor>(mut self) -> Self {
        self.senders.add::<A>();
        self
    }

    /// Sets a callback for failed attempts, including those that will be tried again, for example
    /// to write them to the log of the program. The callback runs once the failure is on disk, on
    /// the task of the machine, so it must not block. It also reports a machine that nothing can
    /// move for a minute or longer, and, once each, tools that its machines call and no live worker
    /// has: after a minute, or when [`run_until_idle`](Self::run_until_idle) ends.
    ///
    /// `tracing` has the same events without the text of the error, which may repeat data.
    ///
    /// ```
    /// # use machine::{actor::Actors, store::Store, worker::Worker};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let worker = Worker::new(&Store::memory(), Actors::issue("worker")?)
    ///     .on_error(|failed| eprintln!("{failed}"));
    /// # drop(worker);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_error(mut self, report: impl Fn(&FailedAttempt<'_>) + Send + Sync + 'static) -> Self {
        self.on_error = Some(Hook(Box::new(report)));
        self
    }

    /// Checks whether the worker can start. Reports machines of its handlers' kinds that their
    /// definitions or types cannot read, unfinished calls that its tools cannot read or would not
    /// run, and tools whose keys differ from the stored ones. For each definition, reads the 500
    /// oldest and the 500 newest machines that have not ended; [`OpenOptions::check`] reads all.
    /// Changes nothing.
    ///
    /// [`OpenOptions::check`]: crate::store::OpenOptions::check
    ///
    /// # Errors
    ///
    /// If the storage cannot be read now.
    ///
    /// ```
    /// # use machine::{actor::Actors, store::Store, worker::Worker};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    /// # runtime.block_on(async {
    /// let worker = Worker::new(&Store::memory(), Actors::issue("worker")?);
    /// let check = worker.check().await?;
    /// assert!(check.is_clean(), "{check}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })
    /// # }
    /// ```
    pub async fn check(&self) -> Result<Check, Unavailable> {
        let mut check = self.store.misfits(&self.declared, ReadAs::Driven).await?;
        for tool in self.executions.tools.values() {
            match tool.compare(&self.store).await {
                Ok(()) => {}
                Err(EffectError::Unavailable(error)) => return Err(error),
                Err(error) => check.other_keys.push(error.to_string()),
            }
        }
        Ok(check)
    }

    pub(super) fn run(self, until: Until) -> impl Future<Output = Result<(), WorkerError>> + Send {
        let Self { store, settings, senders, mut kinds, executions, .. } = self;
        let Self { on_error, declared, .. } = self;
        let (calls, actors) = (Arc::clone(&executions.calls), Arc::clone(&executions.actors));
        let tools = executions.tools.values().cloned().collect();
        let tool_names = executions.tools.keys().cloned().collect();
        let other_tools = executions.others.is_some();
        if !executions.tools.is_empty() || executions.others.is_some() {
            kinds.entry(execution::DEFINITION.name()).or_insert_with(|| Arc::new(executions));
        }
        let shared = Arc::new(Shared {
            name: store.inner.worker.name().to_owned(),
            store,
            actors,
            settings,
            senders,
            leases: Leases::default(),
            on_error,
            until,
            ended: AtomicBool::new(false),
            halt: Stop::default(),
            left: Mutex::default(),
            kept: Mutex::default(),
        });
        let names = kinds.keys().map(|&name| name.to_owned()).collect();
        let definitions = kinds.values().map(|kind| kind.definition()).collect();
        let crew = Crew::new(&shared.store, definitions, tool_names, other_tools);
        Loop {
            shared,
            kinds,
            names,
            crew,
            declared,
            tools,
            jobs: JoinSet::new(),
            busy: HashMap::new(),
            alone: None,
            calls,
        }
        .run()
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("kinds", &self.kinds.keys()).finish_non_exhaustive()
    }
}
