use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    future::Future,
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
/// A machine is ready when it came into a state that is not terminal, when a message for it has
/// come, when one of its deadlines is due, or when a machine that it waits for has ended. Then the
/// worker takes a lease on it, and begins with what came first: it fires what is due, applies the
/// messages that the state takes, and calls the handler of its kind. Everything is written under
/// the lease: a worker that lost it, because it was frozen or cut off, writes nothing more.
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
    /// A worker without handlers and tools, which does nothing yet. Of the kinds that it gets a
    /// [`handler`](Self::handler) for, it also fires the deadlines and applies the messages;
    /// executions are run once it has a [`tool`](Self::tool). It acts as these actors.
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
    /// see [`check`](Self::check). Those that newer programs have written are left to workers of
    /// newer programs.
    pub fn handler<H: Handler>(mut self, handler: H) -> Self {
        self.kinds.insert(<H::Machine as Restore>::DEFINITION.name(), Arc::new(handler));
        self.declared.machine::<H::Machine>();
        self
    }

    /// Drives a machine none of whose states asks for a [handler](macro@crate::machine#handlers):
    /// each transition is made by a person, a deadline, or the outcome of a call of `#[invoke]`, or
    /// its state may last. Of others it does not compile.
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
        self.handler(Waits::<M>::NEW)
    }

    /// Runs the executions of this tool with this service. When the worker starts, an irreversible
    /// tool becomes one in the store, and its keys are compared with those of earlier attempts; see
    /// [`Tool::identity`]. The arguments of calls that have not ended must fit the type of the
    /// tool; see [`check`](Self::check).
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

    /// Applies messages of actors of this type, too. Those of the library are known.
    ///
    /// A message carries the [`KIND`](Actor::KIND) of its sender, because it may come from another
    /// process; so two types of a program must not share one.
    pub fn sender<A: Actor>(mut self) -> Self {
        self.senders.add::<A>();
        self
    }

    /// Sets a callback for failed attempts, such as one that writes them to the log of the program,
    /// also if they are tried again. It is called once the failure is on disk, on the task of the
    /// machine, so it must not block. It is also called for a machine of its kinds that nothing can
    /// move, for a minute or longer, and once for each tool that its machines call and no live
    /// worker has: after a minute, or when [`run_until_idle`](Self::run_until_idle) ends.
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

    /// Checks that it can start: reports machines of its handlers' kinds that their definitions or
    /// types cannot read, calls that have not ended and that its tools cannot read or would not
    /// run, and tools that make other keys than those that are stored. Of each definition it reads
    /// the 500 oldest and the 500 newest machines that have not ended; [`OpenOptions::check`] reads
    /// all. Changes nothing.
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
