//! The vocabulary of these tests. A test runs on a file, with a clock that it moves; workers try
//! again at once; services count their calls; a ticket refuses its moves in every way.

use std::{pin::Pin, sync::atomic::AtomicUsize};

use machine::{
    actor::Actors,
    contract::Callable,
    observe::Observer,
    store::Received,
    stored::{Durable, Restore},
    typed::Erased,
    view::Internal,
    worker::{Handled, Handler, Task},
};
use serde::de::DeserializeOwned;
use tokio::{
    runtime::Builder,
    sync::{Notify, Semaphore},
};

pub(crate) use std::{
    sync::{Arc, Mutex, atomic::Ordering},
    time::Duration,
};

pub(crate) use machine::{
    Id,
    actor::{Actor, Category, GraphRunner, Human},
    contract::{
        Answer, AnyExecution, Applied, Call, Contract, Execution, Idempotent, Irreversible,
        NoReceipt, Perform, Planned, Tool, ToolAnswer,
    },
    machine,
    store::{Delivery, Message, OpenOptions, Query, Store},
    worker::{Next, Worker},
};
pub(crate) use machine_tests::{
    STUCK,
    actors::{ann, ecs_node, graph_runner, reasoning_node, tool_node},
    assert_err,
    hand::Hand,
    notified,
    stores::new_file,
    tool,
};
pub(crate) use serde::{Deserialize, Serialize};

/// A customer, an actor of this program.
pub(crate) struct Customer;

impl Actor for Customer {
    const KIND: &'static str = "customer";
    const CATEGORY: Category = Category::Human;
}

/// What guards of an amount say.
pub(crate) const TOO_MUCH: &str = "more than 100 needs two people";

#[allow(clippy::trivially_copy_pass_by_ref, reason = "guards take references")]
fn affordable(_: &ticket::Open, amount: &u32) -> Result<(), String> {
    assert!(*amount != 13, "unlucky");
    if *amount > 100 { Err(TOO_MUCH.to_owned()) } else { Ok(()) }
}

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Ticket {
    #[initial]
    #[on(open => Open, by = GraphRunner)]
    New,
    #[stable]
    #[on(pay(amount) => Paid, by = Human, guard = affordable -> String)]
    #[on(share(parts: u32) => Paid(amount = 100 / parts), by = Human)]
    #[on(wish(text) => Wished, by = Customer)]
    #[on(lock => Locked, by = GraphRunner)]
    #[on(cancel(reason) => Cancelled, by = GraphRunner | Human)]
    Open,
    #[stable]
    #[on(unlock => Open, by = GraphRunner | Human)]
    Locked,
    #[terminal]
    Paid { amount: u32 },
    #[terminal]
    Wished { text: String },
    #[terminal]
    Cancelled { reason: String },
}

/// The events of a ticket, as messages.
pub(crate) const PAY: &str = r#"{"trigger": "pay", "amount": 3}"#;
pub(crate) const LOCK: &str = r#"{"trigger": "lock"}"#;
pub(crate) const UNLOCK: &str = r#"{"trigger": "unlock"}"#;

/// Two states and one move, by a program.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Lamp {
    #[initial]
    #[on(cancel => Off, by = GraphRunner)]
    On,
    #[terminal]
    Off,
}

/// A machine that only a person moves, and that has no move `cancel`.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Stone {
    #[initial]
    #[on(roll => Rolled, by = Human)]
    Lying,
    #[terminal]
    Rolled,
}

pub(crate) type Handling<'a, M> = Pin<Box<dyn Future<Output = Handled<M>> + Send + 'a>>;

/// A handler made of a function.
pub(crate) struct Does<M>(Box<DoesFn<M>>);

type DoesFn<M> = dyn for<'a> Fn(M, &'a mut Task) -> Handling<'a, M> + Send + Sync;

pub(crate) fn does<M>(
    function: impl for<'a> Fn(M, &'a mut Task) -> Handling<'a, M> + Send + Sync + 'static,
) -> Does<M> {
    Does(Box::new(function))
}

impl<M> Handler for Does<M>
where
    M: Restore + Erased<Event: DeserializeOwned + Send> + Send + 'static,
{
    type Machine = M;

    async fn handle(&self, machine: M, task: &mut Task) -> Handled<M> {
        (self.0)(machine, task).await
    }
}

/// A handler that waits for nothing.
pub(crate) fn moves<M: Send + 'static>(
    function: impl Fn(M, &mut Task) -> Next<M> + Send + Sync + 'static,
) -> Does<M> {
    does(move |machine, task| {
        let next = function(machine, task);
        Box::pin(async { Ok(next) })
    })
}

/// Waits for messages.
pub(crate) fn rests<M: Send + 'static>() -> Does<M> {
    moves(|_, _| Next::Wait)
}

/// Fails, and counts its calls.
pub(crate) fn fails<M>(calls: &Count) -> Does<M> {
    let calls = calls.clone();
    does(move |_, _| {
        calls.add();
        Box::pin(async { Err("the printer is on fire".into()) })
    })
}

/// Opens tickets, and waits for messages.
pub(crate) fn opens() -> Does<AnyTicket> {
    moves(|ticket, _| match ticket {
        AnyTicket::New(ticket) => Next::to(ticket.open(graph_runner())),
        _ => Next::Wait,
    })
}

/// A number that handlers and services share.
#[derive(Debug, Clone, Default)]
pub(crate) struct Count(Arc<AtomicUsize>);

impl Count {
    /// Adds one; returns the number before.
    pub(crate) fn add(&self) -> usize {
        self.0.fetch_add(1, Ordering::SeqCst)
    }

    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

tool!(Charge { cents: u32 } = "bank", "charge", Irreversible);
tool!(Weigh { what: String } = "post", "weigh", Idempotent);

pub(crate) fn charge(cents: u32) -> Contract {
    Contract::of(&Charge { cents }, reasoning_node()).unwrap()
}

pub(crate) fn weigh(what: &str) -> Contract {
    Contract::of(&Weigh { what: what.to_owned() }, reasoning_node()).unwrap()
}

/// A service of any tool: it counts its calls, and gives the answer for their number. By default it
/// says "done".
#[derive(Clone)]
pub(crate) struct Service(Arc<Inner>);

struct Inner {
    answer: Box<dyn Fn(usize) -> Answer + Send + Sync>,
    found: Mutex<Answer>,
    calls: Count,
    called: Notify,
    /// It answers only when it is released.
    held: Option<Semaphore>,
}

impl Default for Service {
    fn default() -> Self {
        Self::new(|_| Ok(Applied::new("done")))
    }
}

impl Service {
    pub(crate) fn new(answer: impl Fn(usize) -> Answer + Send + Sync + 'static) -> Self {
        Self::with(answer, None)
    }

    /// It does not know what became of any call.
    pub(crate) fn unknown() -> Self {
        Self::new(|_| Err(NoReceipt::unknown("no answer")))
    }

    /// It answers a call for each time that it is released.
    pub(crate) fn held() -> Self {
        Self::with(|_| Ok(Applied::new("done")), Some(Semaphore::new(0)))
    }

    fn with(
        answer: impl Fn(usize) -> Answer + Send + Sync + 'static,
        held: Option<Semaphore>,
    ) -> Self {
        Self(Arc::new(Inner {
            answer: Box::new(answer),
            found: Mutex::new(Err(NoReceipt::unknown("ask later"))),
            calls: Count::default(),
            called: Notify::new(),
            held,
        }))
    }

    /// It answers status queries like this.
    pub(crate) fn finds(&self, answer: Answer) {
        *self.0.found.lock().unwrap() = answer;
    }

    pub(crate) fn release(&self) {
        self.0.held.as_ref().unwrap().add_permits(1);
    }

    /// Waits until it is called.
    pub(crate) async fn called(&self) {
        notified(&self.0.called).await;
    }

    pub(crate) fn calls(&self) -> usize {
        self.0.calls.get()
    }
}

impl<T: Callable<Receipt = String, Refusal: From<String>>> Perform<T> for Service {
    async fn perform(&self, _: &Call<T>) -> ToolAnswer<T> {
        let number = self.0.calls.add();
        self.0.called.notify_one();
        if let Some(held) = &self.0.held {
            held.acquire().await?.forget();
        }
        (self.0.answer)(number).map_err(|it| it.map(Into::into))
    }

    async fn find(&self, _: &machine::contract::Attempt<T>) -> ToolAnswer<T> {
        self.0.found.lock().unwrap().clone().map_err(|it| it.map(Into::into))
    }
}

/// A message of Ann's.
pub(crate) fn says(body: &str, correlation: &str) -> Message {
    Message::from_json(body, ann()).unwrap().with_correlation(correlation).unwrap()
}

/// A message of the program's.
pub(crate) fn tells(body: &str, correlation: &str) -> Message {
    Message::from_json(body, graph_runner()).unwrap().with_correlation(correlation).unwrap()
}

pub(crate) fn actors() -> Actors {
    Actors::issue("worker").unwrap()
}

/// A worker that tries again at once.
pub(crate) fn worker(store: &Store) -> Worker {
    Worker::new(store, actors()).backoff(Duration::ZERO, Duration::ZERO)
}

/// Runs until nothing is ready. The timeout is for a worker that never rests.
pub(crate) async fn settle(worker: Worker) {
    let idle = tokio::time::timeout(STUCK, worker.run_until_idle());
    idle.await.expect("the worker rests").unwrap();
}

/// Waits until something is so.
pub(crate) async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    let waited = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let waited = tokio::time::timeout(STUCK, waited).await;
    assert!(waited.is_ok(), "it never happens: {what}");
}

/// Runs a test on a store in a file. In the end, every history verifies. The simulation of workers,
/// in the library, runs on a store in memory.
pub(crate) fn each(test: impl AsyncFn(Store)) {
    timed(async |store, _| test(store).await);
}

/// Runs the test with a clock that it moves forward.
pub(crate) fn timed(test: impl AsyncFn(Store, Hand)) {
    let hand = Hand::default();
    let options = OpenOptions::new().clock(hand.clone());
    let test = async |store| test(store, hand.clone()).await;
    on(&mut Builder::new_current_thread(), &options, test);
}

/// Runs the test on two threads.
pub(crate) fn on_threads(test: impl AsyncFn(Store)) {
    let options = OpenOptions::new().clock(Hand::default());
    on(Builder::new_multi_thread().worker_threads(2), &options, test);
}

fn on(threads: &mut Builder, options: &OpenOptions, test: impl AsyncFn(Store)) {
    let folder = tempfile::tempdir().unwrap();
    threads.enable_all().build().unwrap().block_on(async {
        let store = options.sqlite(folder.path().join("agent.db")).await.unwrap();
        test(store.clone()).await;
        machine_tests::stores::assert_intact(&store).await;
    });
}

/// A ticket in the store, in its first state.
pub(crate) async fn ticket(store: &Store) -> Id {
    create(store, Ticket::new()).await
}

pub(crate) async fn create(store: &Store, mut machine: impl Durable) -> Id {
    store.create(&mut machine).await.unwrap();
    machine.journal().id()
}

/// A call that waits for a worker.
pub(crate) async fn plan<T: Tool>(store: &Store, contract: Contract) -> Id {
    create(store, Planned::<T>::new(contract).unwrap().into_execution()).await
}

/// The state of a machine of any kind, by its name.
pub(crate) async fn state(store: &Store, id: Id) -> String {
    Observer::new(store).snapshot::<Internal>(id).await.unwrap().status.clone()
}

/// A machine of any kind is in this state.
#[track_caller]
pub(crate) fn is<'a>(store: &'a Store, id: Id, expected: &'a str) -> impl Future<Output = ()> + 'a {
    let place = std::panic::Location::caller();
    async move { assert_eq!(state(store, id).await, expected, "at {place}") }
}

/// The messages of a machine.
pub(crate) async fn inbox(store: &Store, id: Id) -> Vec<Received> {
    store.inbox(id).await.unwrap().into_iter().map(Result::unwrap).collect()
}

/// The message with this correlation id.
pub(crate) async fn message(store: &Store, id: Id, correlation: &str) -> Received {
    let readable = store.inbox(id).await.unwrap().into_iter().flatten();
    let mut found = readable.filter(|it| it.correlation == correlation);
    found.next().unwrap_or_else(|| panic!("no message {correlation}"))
}

/// The message is set aside with this text.
pub(crate) async fn refused(store: &Store, id: Id, correlation: &str, text: &str) {
    let message = message(store, id, correlation).await;
    assert_eq!(message.error.as_deref(), Some(text));
    assert_eq!(message.status, Delivery::SetAside);
    assert!(store.set_aside().await.unwrap().messages.contains(&message));
}

/// These machines are set aside, with their errors.
pub(crate) async fn set_aside(store: &Store, expected: &[(Id, &str)]) {
    let machines = store.set_aside().await.unwrap().machines;
    let machines: Vec<_> =
        machines.iter().map(|(id, error)| (*id, error.as_deref().unwrap_or_default())).collect();
    assert_eq!(machines, expected);
}
